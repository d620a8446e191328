import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph () => (float[3, 1, 1] y) <int64 count = {3}, bool go = {1}> {
    y = Loop <body = step (int64 i, bool given) => (bool more, float[1, 1] out) {
        more = Identity(given)
        out = Constant <value = float[1, 1] {0}> ()
    }> (count, go)
}""")
onnx.checker.check_model(model, full_check=True)
print("Actual:  ", onnx.reference.ReferenceEvaluator(model).run(None, {})[0].shape)
print("Expected:", (3, 1, 1))
