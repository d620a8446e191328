# Conv3DTranspose gives wrong values: front end tf-keras (padding='same', kernel_size,
# dilation_rate)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected 0 within 4.7e-38; received 1
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.ones((1, 1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
layer = keras.layers.Conv3DTranspose(
    filters=1, padding="same", kernel_size=(1, 2, 1), dilation_rate=(1, 2, 1)
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 2, 1, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 12 more agree.
expected = np.zeros((1, 1, 1, 1, 1))
seen = model(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
