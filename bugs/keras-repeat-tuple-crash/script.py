# ops.repeat raises an exception: Keras, torch backend (axis, repeats)
# ValueError in run: Exception encountered when calling Repeat.call(). Invalid dtype: object
# Arguments received by Repeat.call(): • x=torch.Tensor(shape=torch.Size([3]), dtype=float32)
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
data = np.zeros((3,), "float32")
x = keras.Input(batch_shape=(3,))
y = keras.ops.repeat(x, axis=0, repeats=(1, 1, 1))
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
