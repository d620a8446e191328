import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[4] x) => (float[4] y) <float low = {0}, float high = {1}> {
    y = Clip(x, low, high)
}""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
network = core.read_model(model.SerializeToString())
x = np.array([np.nan, -np.inf, 0.5, 3.0], "float32")
print("Actual:  ", core.compile_model(network, "CPU")(x)[0])
print("Expected:", np.clip(x, 0, 1))
