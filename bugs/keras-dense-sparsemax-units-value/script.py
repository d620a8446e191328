# Dense gives wrong values: Keras on every backend (all libraries against the reference) (units,
# activation='sparsemax')
# 2 of 2 elements differ, the first at [0, 0]: expected 0.5 within 7.71e-07; received 0
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
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
layer = keras.layers.Dense(units=2, activation="sparsemax")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 2)),  # kernel
    np.ones((2,)),  # bias
])
# From the documented meaning of the layers, computed in float64.
expected = np.array([[0.5, 0.5]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.8e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.8e-07)
sys.exit(0 if right else 1)
