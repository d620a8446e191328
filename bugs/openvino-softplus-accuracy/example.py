import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[4] x) => (float[4] y) { y = Softplus(x) }""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
network = core.read_model(model.SerializeToString())
x = np.array([-10, -14, -16, -20], "float32")
hint = {"INFERENCE_PRECISION_HINT": "f32"}
print("Actual:  ", core.compile_model(network, "CPU", hint)(x)[0])
print("Expected:", np.log1p(np.exp(x)))
