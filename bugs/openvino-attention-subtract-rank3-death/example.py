import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1, 1] q, float[1, 1, 1] k) => (float[1, 1, 1] h, float[1, 1, 1] y) {
    scores = MatMul(q, k)
    p = Softmax(scores)
    h = MatMul(p, q)
    y = Sub(h, q)
}""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
network = core.read_model(model.SerializeToString())
print("Expected: a compiled model", flush=True)
print("Actual:  ", core.compile_model(network, "CPU", {"INFERENCE_NUM_THREADS": 1}))
