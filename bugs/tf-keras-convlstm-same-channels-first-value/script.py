# ConvLSTM3D gives wrong values: front end tf-keras (strides, padding='same',
# data_format='channels_first', float16)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected 0 within 0.000244; received
# 0.120361328
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[[[[[-0.0, -1.0, -0.0]]]]]], "float16")
x = keras.Input(batch_shape=(1, 1, 1, 1, 1, 3), dtype="float16")
layer = keras.layers.ConvLSTM3D(
    filters=1, kernel_size=1, strides=(1, 1, 3), padding="same", data_format="channels_first",
    recurrent_activation="sigmoid", recurrent_initializer="Zeros", dtype="float16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([[[[[0.0, 1.0, -2.0, 1.0]]]]]),  # kernel
    np.zeros((1, 1, 1, 1, 4)),  # recurrent_kernel
    np.zeros((4,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 5 more agree.
expected = np.zeros((1, 1, 1, 1, 1))
seen = model(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2e-03, atol=2.6e-04)
sys.exit(0 if right else 1)
