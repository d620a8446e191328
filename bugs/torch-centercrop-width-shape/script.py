# CenterCrop gives another shape: converter torch.onnx (width)
# expected float32[1, 1, 2, 1]; received float32[1, 1, 1, 1]
import io
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import onnx
    import onnxruntime
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__, end=" ")
print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.CenterCrop(height=1, width=2)(x)
model = keras.Model(x, y)
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
expected = [("float32", (1, 1, 2, 1))]
outputs = [session.run(None, {"x": data})[0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
