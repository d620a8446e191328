import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 2, 4] x) => (float[1, 2, 1] y) { y = GlobalMaxPool(x) }""")
onnx.checker.check_model(model, full_check=True)
(y,) = ReferenceEvaluator(model).run(None, {"x": np.ones((1, 2, 4), "float32")})
print("Actual:  ", y.shape)
print("Expected:", (1, 2, 1))
