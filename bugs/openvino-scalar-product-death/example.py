import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 2] row, float[2, 1] column) => (float y) <int64[0] none = {}> {
    product = MatMul(row, column)  y = Reshape(product, none)
}""")
onnx.checker.check_model(model, full_check=True)
core = openvino.Core()
network = core.read_model(model.SerializeToString())
print("Expected: a compiled model", flush=True)
print("Actual:  ", core.compile_model(network, "CPU"))
