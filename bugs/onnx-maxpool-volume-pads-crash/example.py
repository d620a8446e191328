import numpy as np
import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1, 4] x) => (float[1, 1, 4] y) {
    y = MaxPool <kernel_shape = [2], pads = [0, 1]> (x)
}""")
onnx.checker.check_model(model, full_check=True)
x = np.array([[[1, 2, 3, 4]]], "float32")
print("Actual:  ", onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0])
print("Expected:", np.array([[[2.0, 3.0, 4.0, 4.0]]]))
