import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y) <int64[8] pads = {0, 0, 2, 2, 0, 0, 2, 2}> {
    h = Pad(x, pads)
    y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (h)
}""")
onnx.checker.check_model(model, full_check=True)
print("Expected: a session")
print("Actual:  ", onnxruntime.InferenceSession(model.SerializeToString()))
