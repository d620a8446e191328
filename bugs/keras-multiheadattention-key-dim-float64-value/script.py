# MultiHeadAttention gives wrong values: Keras on every backend (all libraries against the
# reference) (key_dim, float64)
# 1 of 1 elements differ, the first at [0, 0, 0]: expected 1.19557032 within 4.08e-15; received
# 1.19557032
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
data0 = np.zeros((1, 1, 1), "float64")
data1 = np.array([[[-2.0], [-1.0]]], "float64")
x0 = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
x1 = keras.Input(batch_shape=(1, 2, 1), dtype="float64")
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=2, dtype="float64")
y = layer(x0, x1)
model = keras.Model([x0, x1], y)
layer.set_weights([
    np.zeros((1, 1, 2)),  # kernel_query
    np.ones((1, 2)),  # bias_query
    np.ones((1, 1, 2)),  # kernel_key
    np.zeros((1, 2)),  # bias_key
    np.ones((1, 1, 2)),  # kernel_value
    np.zeros((1, 2)),  # bias_value
    np.array([[[-1.0], [0.0]]]),  # kernel_output
    np.zeros((1,)),  # bias_output
])
# From the documented meaning of the layers, computed in float64.
expected = np.array([[[1.1955703174930432]]])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.6e-15 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=3.6e-15)
sys.exit(0 if right else 1)
