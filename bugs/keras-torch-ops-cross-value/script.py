# ops.cross gives wrong values: Keras, torch backend (rank 2)
# 8 of 9 elements differ, the first at [0, 0]: expected -2 within 2.45e-06; received -1
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
data0 = np.ones((3, 3), "float32")
data1 = np.array([[1.0, 1.0, -1.0], [0.0, 0.0, 2.0], [-1.0, 1.0, -2.0]], "float32")
x0 = keras.Input(batch_shape=(3, 3))
x1 = keras.Input(batch_shape=(3, 3))
y = keras.ops.cross(x0, x1, axisa=-1, axisb=-1, axisc=-1, axis=None)
model = keras.Model([x0, x1], y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX agree.
expected = np.array([[-2.0, 2.0, 0.0], [2.0, -2.0, 0.0], [-3.0, 1.0, 2.0]])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=2e-06)
sys.exit(0 if right else 1)
