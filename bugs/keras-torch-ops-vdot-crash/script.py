# ops.vdot raises an exception: Keras, torch backend (rank 2)
# RuntimeError in run: Exception encountered when calling Vdot.call(). 1D tensors expected, but got
# 2D and 2D tensors Arguments received by Vdot.call(): • x1=torch.Tensor(shape=torch.Size([1, ...
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.ops.vdot(x, x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
