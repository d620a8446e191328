# Normalization gives wrong values: Keras, torch backend (variance, float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.577350269 within 1.14e-15; received
# 0.57735028
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
data = np.ones((1, 1), "float64")
x = keras.Input(batch_shape=(1, 1), dtype="float64")
y = keras.layers.Normalization(mean=0.0, variance=3.0, dtype="float64")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, tf-keras (Keras 2)
# on TensorFlow and 9 more agree.
expected = np.array([[0.57735026918962584]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
