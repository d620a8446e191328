# ops.max raises an exception: Keras, torch backend (axis, rank 2, empty data)
# ValueError in run: Exception encountered when calling Max.call(). Cannot compute the max of an
# empty tensor. Arguments received by Max.call(): • x=torch.Tensor(shape=torch.Size([1, 0]), ...
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
data = np.zeros((1, 0), "float32")
x = keras.Input(batch_shape=(1, 0))
y = keras.ops.max(x, axis=0, keepdims=False)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
