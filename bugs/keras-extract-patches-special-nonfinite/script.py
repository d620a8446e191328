# ops.image.extract_patches gives NaN or Inf in the wrong places: Keras on every backend (all
# libraries against the reference) (size, data_format='channels_first', special data)
# 1 of 2 elements differ, the first at [1, 0, 0]: expected 1 within 6.54e-07; received nan
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.array([[[np.nan], [1.0]]], "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.image.extract_patches(
    x, size=(2, 1), strides=None, dilation_rate=1, padding="valid", data_format="channels_first"
)
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.array([[[np.nan]], [[1.0]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.2e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.2e-07, equal_nan=True
)
sys.exit(0 if right else 1)
