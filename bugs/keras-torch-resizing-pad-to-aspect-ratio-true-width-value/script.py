# Resizing gives wrong values: Keras, torch backend (width, pad_to_aspect_ratio=True)
# 1 of 3 elements differ, the first at [0, 0, 0, 0]: expected 0 within 4.7e-38; received 1
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
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Resizing(height=1, width=3, pad_to_aspect_ratio=True)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on
# JAX agree.
expected = np.zeros((1, 1, 3, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
