# LSTM gives wrong values: Keras, torch backend (recurrent_dropout, float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.369606353 within 1.27e-15; received
# 0.369606377
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
data = np.zeros((1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
layer = keras.layers.LSTM(units=1, recurrent_dropout=0.7, dtype="float64")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 4)),  # kernel
    np.zeros((1, 4)),  # recurrent_kernel
    np.ones((4,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# keras-tf as a tf.function and 7 more agree.
expected = np.array([[0.36960635293570576]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.2e-15 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=1.2e-15)
sys.exit(0 if right else 1)
