# ConvLSTM2D gives wrong values: runtime TensorFlow (kernel_size, strides, padding='same',
# data_format='channels_first')
# 2 of 4 elements differ, the first at [0, 0, 1, 0]: expected 0.369606353 within 7.01e-07; received
# 0
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.ones((2, 1, 1, 2, 1), "float32")
x = keras.Input(batch_shape=(2, 1, 1, 2, 1))
layer = keras.layers.ConvLSTM2D(
    filters=1, kernel_size=(1, 2), strides=(1, 2), padding="same", data_format="channels_first",
    recurrent_activation="sigmoid"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 2, 1, 4)),  # kernel
    np.zeros((1, 2, 1, 4)),  # recurrent_kernel
    np.zeros((4,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf > tf2onnx >
# ONNX Runtime and 6 more agree.
expected = np.full((2, 1, 2, 1), 0.369606353)
seen = model(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.4e-07)
sys.exit(0 if right else 1)
