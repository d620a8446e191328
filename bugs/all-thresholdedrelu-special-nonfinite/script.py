# ThresholdedReLU gives NaN or Inf in the wrong places: all libraries against the reference (special
# data)
# 1 of 1 elements differ, the first at [0, 0]: expected 0 within 4.7e-38; received nan
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[-np.inf]], "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.ThresholdedReLU()(x)
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.zeros((1, 1))
seen = model(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
