# Activation gives wrong values: Keras, tensorflow backend (activation='leaky_relu', float64)
# 1 of 1 elements differ, the first at [0, 0]: expected -0.8 within 7.99e-16; received -0.800000012
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[-4.0]], "float64")
x = keras.Input(batch_shape=(1, 1), dtype="float64")
y = keras.layers.Activation(activation="leaky_relu", dtype="float64")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[-0.80000000000000004]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=4.7e-16)
sys.exit(0 if right else 1)
