# ops.quantile gives wrong values: Keras on every backend (all libraries against the reference)
# (method='lower')
# 1 of 1 elements differ, the first at []: expected -1 within 5.63e-07; received -0.5
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
data = np.array([-1.0, 0.0], "float32")
x = keras.Input(batch_shape=(2,))
y = keras.ops.quantile(x, axis=None, keepdims=False, q=0.5, method="lower")
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.array(-1.0)
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=3.4e-07)
sys.exit(0 if right else 1)
