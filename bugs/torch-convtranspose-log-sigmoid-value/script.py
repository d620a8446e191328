# Conv3DTranspose gives wrong values: converter torch.onnx (activation='log_sigmoid')
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected -8.00033541 within 7.9e-06;
# received -8.00011158
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
data = np.array([[[[[-8.0]]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
layer = keras.layers.Conv3DTranspose(filters=1, kernel_size=1, activation="log_sigmoid")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 1, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = session.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=6e-06, equal_nan=True
)
sys.exit(0 if right else 1)
