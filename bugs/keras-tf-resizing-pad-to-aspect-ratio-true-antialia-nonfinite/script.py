# Resizing gives NaN or Inf in the wrong places: Keras, tensorflow backend (width,
# pad_to_aspect_ratio=True, antialias=True, special data)
# Blamed: Keras, tensorflow backend.
# 2 of 3 elements differ, the first at [0, 0, 0, 0]: expected 0 within 4.7e-38; received nan
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
data = np.array([[[[np.inf]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Resizing(height=1, width=3, pad_to_aspect_ratio=True, antialias=True)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[[[0.0], [np.inf], [0.0]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape
if right:
    close = np.isclose(seen, expected, rtol=2.4e-07, atol=4.9e-38, equal_nan=True)
    close |= ~np.isfinite(seen) & ~np.isfinite(expected)  # a sum with Inf in it may be NaN
    right = close.all()
sys.exit(0 if right else 1)
