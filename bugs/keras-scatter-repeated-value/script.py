# ops.scatter gives wrong values: Keras on every backend (all libraries against the reference)
# (shape)
# 1 of 5 elements differ, the first at [0]: expected 1 within 6.54e-07; received 2
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data0 = np.array([[0], [0]], "int32")
data1 = np.ones((2,), "float32")
x0 = keras.Input(batch_shape=(2, 1), dtype="int32")
x1 = keras.Input(batch_shape=(2,))
y = keras.ops.scatter(x0, x1, shape=(5,))
model = keras.Model([x0, x1], y)
# From the documented meaning of the layers, computed in float64.
expected = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.2e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.2e-07)
sys.exit(0 if right else 1)
