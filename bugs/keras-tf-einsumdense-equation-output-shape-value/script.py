# EinsumDense gives wrong values: Keras, tensorflow backend (equation, output_shape, bias_axes, rank
# 3)
# 2 of 4 elements differ, the first at [0, 0, 0, 1]: expected -1 within 6.38e-07; received 0
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
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
layer = keras.layers.EinsumDense(equation="abc,cde->abde", output_shape=(2, 1, 2), bias_axes="bd")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([[[-0.0, 0.0]]]),  # kernel
    np.array([[[-1.0]], [[0.0]]]),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, tf-keras (Keras 2) on
# TensorFlow and 1 more agree.
expected = np.array([[[[-1.0, -1.0]], [[0.0, 0.0]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4e-07)
sys.exit(0 if right else 1)
