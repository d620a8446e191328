# ReLU gives wrong values: Keras, tensorflow backend (negative_slope, float64)
# 1 of 1 elements differ, the first at [0, 0]: expected -0.72 within 7.64e-16; received -0.719999981
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
data = np.array([[-0.4]], "float64")
x = keras.Input(batch_shape=(1, 1), dtype="float64")
y = keras.layers.ReLU(negative_slope=1.8, dtype="float64")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch agrees.
expected = np.array([[-0.72000000000000008]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=4.7e-16)
sys.exit(0 if right else 1)
