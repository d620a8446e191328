import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[4] x) => (float[4] y) { y = Sigmoid(x) }""")
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model.SerializeToString())
x = np.array([-12, -14, -16, -18], "float32")
print("Actual:  ", session.run(None, {"x": x})[0])
print("Expected:", 1 / (1 + np.exp(-x)))
