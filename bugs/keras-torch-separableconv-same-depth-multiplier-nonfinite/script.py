# SeparableConv2D gives NaN or Inf in the wrong places: Keras, torch backend (depth_multiplier,
# padding='same', kernel_size, dilation_rate, bfloat16, special data)
# 1 of 2 elements differ, the first at [0, 0, 0, 0]: expected 0 within 4.7e-38; received nan
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data = np.array([[[[np.nan], [-1.0]]]], "float32")  # the model casts it to bfloat16
x = keras.Input(batch_shape=(1, 1, 2, 1), dtype="bfloat16")
layer = keras.layers.SeparableConv2D(
    filters=1, depth_multiplier=2, padding="same", kernel_size=(1, 2), dilation_rate=(1, 3),
    dtype="bfloat16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# Keras 3 on JAX and 4 more agree.
expected = np.array([[[[0.0], [np.nan]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 1.6e-02 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=1.6e-02, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
