# MultiHeadAttention gives wrong values: Keras, torch backend (float64)
# 1 of 1 elements differ, the first at [0, 0, 0]: expected -0.2 within 4.22e-16; received
# -0.200000003
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data = np.zeros((1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1, dtype="float64")
y = layer(x, x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 1, 1)),  # kernel_query
    np.zeros((1, 1)),  # bias_query
    np.zeros((1, 1, 1)),  # kernel_key
    np.zeros((1, 1)),  # bias_key
    np.zeros((1, 1, 1)),  # kernel_value
    np.array([[-0.2]]),  # bias_value
    np.ones((1, 1, 1)),  # kernel_output
    np.zeros((1,)),  # bias_output
])
# From the documented meaning in float64; Keras 3 on TensorFlow, keras-tf as a tf.function, keras-tf
# as a tf.function with jit_compile and 7 more agree.
expected = np.array([[[-0.20000000000000001]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.5e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=3.5e-16)
sys.exit(0 if right else 1)
