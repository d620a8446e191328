# DepthwiseConv1D gives wrong values: Keras, tensorflow backend (data_format='channels_first')
# 2 of 4 elements differ, the first at [0, 0, 1]: expected 1 within 1.08e-06; received 2
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
data = np.zeros((1, 2, 2), "float32")
x = keras.Input(batch_shape=(1, 2, 2))
layer = keras.layers.DepthwiseConv1D(data_format="channels_first", kernel_size=1)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 2, 1)),  # depthwise_kernel
    np.array([1.0, 2.0]),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[[1.0, 1.0], [2.0, 2.0]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=8.9e-07)
sys.exit(0 if right else 1)
