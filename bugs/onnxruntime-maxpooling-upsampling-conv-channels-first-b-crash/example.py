import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 2, 2, 1] x) => (float[1, 4, 2, 2] y) <float[4] scales = {1, 1, 2, 2}> {
    h = Transpose <perm = [0, 2, 3, 1]> (x)
    r = Resize <mode = "linear"> (h, , scales)
    y = Transpose <perm = [0, 3, 1, 2]> (r)
}""")
onnx.checker.check_model(model, full_check=True)
print("Expected: a session", flush=True)
print("Actual:  ", onnxruntime.InferenceSession(model.SerializeToString()))
