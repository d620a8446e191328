# RMSNormalization gives wrong values: Keras, torch backend (axis=1, rank 3)
# 2 of 4 elements differ, the first at [0, 0, 0]: expected -1.41421215 within 9.78e-07; received
# -0.999999523
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
data = np.array([[[-1.0, -1.0], [0.0, -0.0]]], "float32")
x = keras.Input(batch_shape=(1, 2, 2))
layer = keras.layers.RMSNormalization(axis=1)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.ones((2,))])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, keras-tf as a
# tf.function and 10 more agree.
expected = np.array([[[-1.41421215, -1.41421215], [0.0, -0.0]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.7e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.7e-07)
sys.exit(0 if right else 1)
