# ops.image.gaussian_blur gives wrong values: Keras on every backend (all libraries against the
# reference) (sigma)
# 2 of 2 elements differ, the first at [0, 0, 0]: expected 0.343870153 within 4.73e-07; received
# 0.378944516
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
data = np.ones((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.image.gaussian_blur(
    x, kernel_size=(3, 3), sigma=(1.0, 0.8), data_format="channels_last"
)
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.array([[[0.343870153], [0.343870153]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.1e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.1e-07)
sys.exit(0 if right else 1)
