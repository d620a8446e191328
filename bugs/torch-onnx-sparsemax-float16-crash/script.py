# Activation raises an exception: converter torch.onnx (activation='sparsemax', float16)
# RuntimeError in torch.onnx: tensor does not have a device
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import io
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import onnx
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__, end=" ")
print("onnx", onnx.__version__)
data = np.zeros((1, 1), "float16")
x = keras.Input(batch_shape=(1, 1), dtype="float16")
y = keras.layers.Activation(activation="sparsemax", dtype="float16")(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    file = io.BytesIO()
    torch.onnx.export(
        model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
    )
    proto = onnx.load_from_string(file.getvalue())
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
