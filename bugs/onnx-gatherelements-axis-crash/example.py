import numpy as np
import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[4] x, int64[1] at) => (float[1] y) { y = GatherElements <axis = -1> (x, at) }""")
onnx.checker.check_model(model, full_check=True)
x, at = np.array([1, 2, 3, 4], "float32"), np.array([2])
print("Expected: [3.]", flush=True)
print("Actual:  ", onnx.reference.ReferenceEvaluator(model).run(None, {"x": x, "at": at})[0])
