# DepthwiseConv2D gives wrong values: Keras, tensorflow backend (depth_multiplier, kernel_size,
# strides, bfloat16)
# 2 of 4 elements differ, the first at [0, 1, 0, 0]: expected 2 within 0.104; received 0
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
data = np.ones((1, 2, 2, 1), "float32")  # the model casts it to bfloat16
x = keras.Input(batch_shape=(1, 2, 2, 1), dtype="bfloat16")
layer = keras.layers.DepthwiseConv2D(
    depth_multiplier=2, kernel_size=(1, 2), strides=(1, 2), dtype="bfloat16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 2, 1, 2)),  # depthwise_kernel
    np.zeros((2,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf as a
# tf.function with jit_compile agree.
expected = np.full((1, 2, 1, 2), 2.0)
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 7.7e-02 + 1.6e-02 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=1.6e-02, atol=7.7e-02)
sys.exit(0 if right else 1)
