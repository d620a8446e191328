import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[3, 3] x) => (float[3] y) { y = ReduceMax <axes = [1], keepdims = 0> (x) }""")
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model.SerializeToString())
x = np.array([[np.nan, 1, 2], [1, np.nan, 2], [1, 2, np.nan]], "float32")
print("Actual:  ", session.run(None, {"x": x})[0])
print("Expected:", x.max(axis=1))
