# Conv2D > Resizing gives wrong values: Keras, openvino backend (antialias=True)
# 1 of 1 elements differ, the first at [0, 0, 0, 0]: expected 0.571428571 within 3.86e-07; received
# 0
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.array([[[[1.0]], [[0.0]], [[1.0]]]], "float32")
x = keras.Input(batch_shape=(1, 3, 1, 1))
layer = keras.layers.Conv2D(filters=1, kernel_size=1)
h1 = layer(x)
y = keras.layers.Resizing(height=1, width=1, antialias=True)(h1)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 9 more agree.
expected = np.array([[[[0.571428571]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.3e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.3e-07)
sys.exit(0 if right else 1)
