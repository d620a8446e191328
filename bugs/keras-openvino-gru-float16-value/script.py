# GRU gives wrong values: Keras, openvino backend (units, reset_after=False, unroll=True, float16)
# 2 of 2 elements differ, the first at [0, 0]: expected 0.335207353 within 0.00556; received
# 0.204833984
import os
import sys

os.environ["KERAS_BACKEND"] = "openvino"
try:
    import keras
    import numpy as np
    import openvino
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "openvino", openvino.__version__)
data = np.zeros((1, 2, 1), "float16")
x = keras.Input(batch_shape=(1, 2, 1), dtype="float16")
layer = keras.layers.GRU(
    units=2, reset_after=False, recurrent_initializer="Zeros", unroll=True, dtype="float16"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 6)),  # kernel
    np.ones((2, 6)),  # recurrent_kernel
    np.ones((6,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on
# NumPy agree.
expected = np.array([[0.335207, 0.335207]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 5.1e-03 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2e-03, atol=5.1e-03)
sys.exit(0 if right else 1)
