import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 2, 2, 1] q, float[1, 2, 1, 2] k, float[1, 2, 2, 1] x) => (float[1, 2, 1] y)
<float[2, 1] w = {1, 1}, int64[3] flat = {1, 2, 2}> {
    s = MatMul(q, k)  p = Softmax(s)  h = MatMul(p, x)  t = Transpose <perm = [0, 2, 1, 3]> (h)
    gate = Sigmoid(x)  m = Mul(t, gate)  j = Reshape(m, flat)  y = MatMul(j, w)
}""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
network = core.read_model(model.SerializeToString())
print("Expected: a compiled model", flush=True)
print("Actual:  ", core.compile_model(network, "CPU", {"INFERENCE_NUM_THREADS": 1}))
