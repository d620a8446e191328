import numpy as np
import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1, 2, 1] x) => (float[1, 1, 2, 1] y) {
    y = MaxPool <kernel_shape = [2, 2], pads = [0, 0, 1, 1], strides = [1, 1]> (x)
}""")
onnx.checker.check_model(model, full_check=True)
x = np.zeros((1, 1, 2, 1), "float32")
print("Actual:  ", onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0].shape)
print("Expected:", (1, 1, 2, 1))
