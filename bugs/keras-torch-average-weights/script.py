# ops.average raises an exception: Keras, torch backend (axis, rank 2)
# RuntimeError in run: Exception encountered when calling Average.call(). The size of tensor a (3)
# must match the size of tensor b (2) at non-singleton dimension 0 Arguments received by ...
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
data = np.zeros((2, 3), "float32")
x = keras.Input(batch_shape=(2, 3))
y = keras.ops.average(x, weights=x, axis=0)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
