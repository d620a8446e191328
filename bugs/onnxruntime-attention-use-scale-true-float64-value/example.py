import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (double[1, 1] x) => (double[1, 1] y) <double scale = {1.04}> {
    h = MatMul(x, x)
    y = Mul(h, scale)
}""")
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model.SerializeToString())
print("Actual:  ", session.run(None, {"x": np.ones((1, 1))})[0].item())
print("Expected:", 1.04)
