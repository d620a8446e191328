# Masking > MultiHeadAttention gives wrong values: Keras on every backend (all libraries against the
# reference)
# 1 of 1 elements differ, the first at [0, 0, 0]: expected 0 within 4.7e-38; received 1
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
data0 = np.zeros((1, 1, 1), "float32")
data1 = np.zeros((1, 1, 1), "float32")
x0 = keras.Input(batch_shape=(1, 1, 1))
h1 = keras.layers.Masking()(x0)
x1 = keras.Input(batch_shape=(1, 1, 1))
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1)
y = layer(x1, h1)
model = keras.Model([x0, x1], y)
layer.set_weights([
    np.zeros((1, 1, 1)),  # kernel_query
    np.zeros((1, 1)),  # bias_query
    np.zeros((1, 1, 1)),  # kernel_key
    np.zeros((1, 1)),  # bias_key
    np.zeros((1, 1, 1)),  # kernel_value
    np.ones((1, 1)),  # bias_value
    np.ones((1, 1, 1)),  # kernel_output
    np.zeros((1,)),  # bias_output
])
# From the documented meaning of the layers, computed in float64.
expected = np.zeros((1, 1, 1))
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
