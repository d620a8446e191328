import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1] x) => (float[1, 1] y) <float[1, 1] w = {0.0}, float[1] b = {1.0}, float scale = {inf}> {
    h = Gemm(x, w, b)
    y = Mul(h, scale)
}""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
print("Actual:  ", compiled([np.zeros((1, 1), "float32")])[0].item())
print("Expected:", (0.0 * 0.0 + 1.0) * np.inf)
