# Conv3D gives wrong values: Keras, tensorflow backend (padding='same', strides)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected 1 within 8.66e-07; received 2
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
data = np.array([[[[[1.0]]], [[[2.0]]], [[[3.0]]]]], "float32")
x = keras.Input(batch_shape=(1, 3, 1, 1, 1))
layer = keras.layers.Conv3D(filters=1, padding="same", kernel_size=1, strides=(3, 1, 1))
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 1, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.ones((1, 1, 1, 1, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.3e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.3e-07)
sys.exit(0 if right else 1)
