# ops.pad gives wrong values: Keras, torch backend (mode='symmetric', pad_width)
# 1 of 4 elements differ, the first at [3]: expected -1 within 5.63e-07; received 0
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
data = np.array([-1.0, 0.0], "float32")
x = keras.Input(batch_shape=(2,))
y = keras.ops.pad(x, mode="symmetric", pad_width=((0, 2),), constant_values=None)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX agree.
expected = np.array([-1.0, 0.0, 0.0, -1.0])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=3.4e-07)
sys.exit(0 if right else 1)
