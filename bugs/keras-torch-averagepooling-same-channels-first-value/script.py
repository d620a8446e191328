# AveragePooling1D gives wrong values: Keras, torch backend (pool_size, padding='same',
# data_format='channels_first')
# 1 of 1 elements differ, the first at [0, 0, 0]: expected 0.134792995 within 1.37e-07; received
# 0.0538804047
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
data = np.array([[[0.37753078, -0.107944794]]], "float32")
x = keras.Input(batch_shape=(1, 1, 2))
y = keras.layers.AveragePooling1D(pool_size=3, padding="same", data_format="channels_first")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, tf-keras (Keras 2)
# on TensorFlow and 10 more agree.
expected = np.array([[[0.134792995]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.1e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=1.1e-07)
sys.exit(0 if right else 1)
