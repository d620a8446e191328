# Dot gives NaN or Inf in the wrong places: all libraries against the reference (normalize=True,
# float16)
# 1 of 1 elements differ, the first at [0, 0]: expected 0 within 0.000244; received nan
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
data = np.zeros((1, 1), "float16")
x = keras.Input(batch_shape=(1, 1), dtype="float16")
y = keras.layers.Dot(axes=-1, normalize=True, dtype="float16")([x, x])
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.zeros((1, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2e-03, atol=2.6e-04)
sys.exit(0 if right else 1)
