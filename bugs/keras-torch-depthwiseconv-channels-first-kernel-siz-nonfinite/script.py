# DepthwiseConv1D gives NaN or Inf in the wrong places: Keras, torch backend
# (data_format='channels_first', kernel_size, bfloat16, special data)
# 1 of 4 elements differ, the first at [0, 0, 2]: expected 0 within 4.7e-38; received nan
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
data = np.array([[[0.0, np.nan, 0.0, -1.0, np.nan]]], "float32")  # the model casts it to bfloat16
x = keras.Input(batch_shape=(1, 1, 5), dtype="bfloat16")
layer = keras.layers.DepthwiseConv1D(data_format="channels_first", kernel_size=2, dtype="bfloat16")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# keras-tf as a tf.function with jit_compile agree.
expected = np.array([[[np.nan, np.nan, 0.0, np.nan]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 1.6e-02 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=1.6e-02, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
