# SimpleRNN gives wrong values: Keras, torch backend (float64)
# 1 of 1 elements differ, the first at [0, 0]: expected -0.291312612 within 1.02e-15; received
# -0.291312623
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
data = np.ones((1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
layer = keras.layers.SimpleRNN(units=1, dtype="float64")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([[-0.3]]),  # kernel
    np.zeros((1, 1)),  # recurrent_kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# keras-tf as a tf.function and 7 more agree.
expected = np.array([[-0.2913126124515909]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
