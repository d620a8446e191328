# ConvLSTM2D gives wrong values: Keras, tensorflow backend (kernel_size, strides, bfloat16)
# 1 of 2 elements differ, the first at [0, 1, 0, 0]: expected -0.369606353 within 0.0367; received 0
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[[[[1.0], [0.0]], [[1.0], [1.0]]]]], "float32")  # the model casts it to bfloat16
x = keras.Input(batch_shape=(1, 1, 2, 2, 1), dtype="bfloat16")
layer = keras.layers.ConvLSTM2D(
    filters=1, kernel_size=(1, 2), strides=(1, 2), recurrent_initializer="Zeros", dtype="bfloat16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([[[[1.0, -1.0, 0.0, 1.0]], [[0.0, 0.0, -1.0, 0.0]]]]),  # kernel
    np.zeros((1, 2, 1, 4)),  # recurrent_kernel
    np.zeros((4,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf as a
# tf.function with jit_compile agree.
expected = np.array([[[[0.0]], [[-0.36961]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.1e-02 + 1.6e-02 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=1.6e-02, atol=3.1e-02)
sys.exit(0 if right else 1)
