# Conv3D gives wrong values: Keras, tensorflow backend (padding='same', strides, float16)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected 0 within 0.000244; received -2
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
data = np.array([[[[[-0.0]]], [[[-2.0]]], [[[-1.0]]]]], "float16")
x = keras.Input(batch_shape=(1, 3, 1, 1, 1), dtype="float16")
layer = keras.layers.Conv3D(
    filters=1, padding="same", kernel_size=1, strides=(3, 1, 1), dtype="float16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 1, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf as a
# tf.function with jit_compile and 7 more agree.
expected = np.zeros((1, 1, 1, 1, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2e-03, atol=2.6e-04)
sys.exit(0 if right else 1)
