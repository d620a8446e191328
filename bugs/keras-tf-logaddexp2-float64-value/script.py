# ops.logaddexp2 gives wrong values: all libraries against the reference (float64)
# 1 of 1 elements differ, the first at [0]: expected 1 within 4.44e-16; received 0.999999997
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
data = np.zeros((1,), "float64")
x = keras.Input(batch_shape=(1,), dtype="float64")
y = keras.ops.logaddexp2(x, x)
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.ones((1,))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=0)
sys.exit(0 if right else 1)
