# LeakyReLU gives wrong values: Keras, numpy backend (negative_slope)
# 1 of 1 elements differ, the first at [0, 0]: expected 1 within 5.63e-07; received 1.60000002
import os
import sys

os.environ["KERAS_BACKEND"] = "numpy"
try:
    import keras
    import numpy as np
    import numpy
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "numpy", numpy.__version__)
data = np.ones((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.LeakyReLU(negative_slope=1.6)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on
# OpenVINO agree.
expected = np.ones((1, 1))
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=3.4e-07)
sys.exit(0 if right else 1)
