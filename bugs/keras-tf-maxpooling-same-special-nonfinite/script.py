# MaxPooling3D gives NaN or Inf in the wrong places: Keras, tensorflow backend (padding='same',
# special data)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected nan within nan; received
# -3.40282347e+38
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
data = np.array([[[[[np.nan]]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
y = keras.layers.MaxPooling3D(pool_size=2, padding="same")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch agrees.
expected = np.array([[[[[np.nan]]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
