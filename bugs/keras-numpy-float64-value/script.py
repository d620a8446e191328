# SimpleRNN gives wrong values: Keras, numpy backend (float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.761594156 within 1.23e-15; received
# 0.761594176
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
data = np.zeros((1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
layer = keras.layers.SimpleRNN(units=1, dtype="float64")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 1)),  # kernel
    np.zeros((1, 1)),  # recurrent_kernel
    np.ones((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch agree.
expected = np.array([[0.76159415595576485]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
