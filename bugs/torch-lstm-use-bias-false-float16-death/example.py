import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
graph (float16[2, 3, 4] x) => (float16[3, 2, 1] y) <float16[4, 1] w = {0, 0, 0, 0}> {
    h = Transpose <perm = [1, 0, 2]> (x)
    y = MatMul(h, w)
}""")
onnx.checker.check_model(model, full_check=True)
print("Expected: a session", flush=True)
print("Actual:  ", onnxruntime.InferenceSession(model.SerializeToString()))
