# Dot raises an exception: Keras, torch backend (rank 3, empty data)
# RuntimeError in run: Exception encountered when calling Dot.call(). cannot reshape tensor of 0
# elements into shape [0, 1, -1] because the unspecified dimension size -1 can be any value and ...
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
data0 = np.zeros((0, 1, 1), "float32")
data1 = np.zeros((0, 1, 1, 1), "float32")
x0 = keras.Input(batch_shape=(0, 1, 1))
x1 = keras.Input(batch_shape=(0, 1, 1, 1))
y = keras.layers.Dot(axes=-1)([x0, x1])
model = keras.Model([x0, x1], y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model([data0, data1]))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
