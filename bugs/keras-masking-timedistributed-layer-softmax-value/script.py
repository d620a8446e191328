# Masking > TimeDistributed gives wrong values: Keras on every backend (layer=Softmax)
# 1 of 1 elements differ, the first at [0, 0, 0]: expected 1 within 2.38e-07; received 0
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
h1 = keras.layers.Masking()(x)
y = keras.layers.TimeDistributed(layer=keras.layers.Softmax())(h1)
model = keras.Model(x, y)
# From the documented meaning in float64; tf-keras (Keras 2) on TensorFlow, Keras-MXNet on MXNet
# agree.
expected = np.ones((1, 1, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=0)
sys.exit(0 if right else 1)
