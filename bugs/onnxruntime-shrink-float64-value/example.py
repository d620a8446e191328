import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (double[2] x) => (double[2] y) { y = Shrink <lambd = 0.5, bias = 0.0> (x) }""")
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model.SerializeToString())
x = np.array([1.2, 0.1])
print("Actual:  ", session.run(None, {"x": x})[0].tolist())
print("Expected:", [1.2, 0.0])
