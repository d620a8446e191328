# Resizing gives wrong values: Keras, torch backend (height, pad_to_aspect_ratio=True,
# antialias=True)
# 2 of 4 elements differ, the first at [0, 1, 0, 0]: expected 0.625 within 1.57e-06; received 0
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
data = np.ones((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Resizing(height=4, width=1, pad_to_aspect_ratio=True, antialias=True)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, keras-tf as a
# tf.function and 2 more agree.
expected = np.array([[[[0.0]], [[0.625]], [[0.625]], [[0.0]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.5e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=1.5e-06)
sys.exit(0 if right else 1)
