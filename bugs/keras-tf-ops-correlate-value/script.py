# ops.correlate gives wrong values: Keras, tensorflow backend (mode='same')
# 2 of 3 elements differ, the first at [0]: expected 2 within 2.04e-06; received 1
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
data0 = np.ones((2,), "float32")
data1 = np.ones((3,), "float32")
x0 = keras.Input(batch_shape=(2,))
x1 = keras.Input(batch_shape=(3,))
y = keras.ops.correlate(x0, x1, mode="same")
model = keras.Model([x0, x1], y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([2.0, 2.0, 1.0])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.6e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=1.6e-06)
sys.exit(0 if right else 1)
