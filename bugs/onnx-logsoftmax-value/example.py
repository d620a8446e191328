import numpy as np
import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[3] x) => (float[3] y) { y = LogSoftmax <axis = 0> (x) }""")
onnx.checker.check_model(model, full_check=True)
x = np.array([200, 91, 100], "float32")
print("Actual:  ", onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0])
print("Expected:", x - 200)
