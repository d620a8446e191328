# ops.cross raises an exception: Keras, torch backend (rank 2)
# RuntimeError in run: Exception encountered when calling Cross.call(). linalg.cross: inputs must
# have the same number of dimensions. Arguments received by Cross.call(): • ...
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
data0 = np.zeros((1, 3), "float32")
data1 = np.zeros((3,), "float32")
x0 = keras.Input(batch_shape=(1, 3))
x1 = keras.Input(batch_shape=(3,))
y = keras.ops.cross(x0, x1, axisa=-1, axisb=-1, axisc=-1, axis=None)
model = keras.Model([x0, x1], y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model([data0, data1]))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
