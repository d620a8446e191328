# ops.logaddexp gives wrong values: Keras, openvino backend
# 1 of 1 elements differ, the first at [0]: expected 1.31326169 within 6.09e-07; received 2.31326151
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
data0 = np.zeros((1,), "float32")
data1 = np.ones((1,), "float32")
x0 = keras.Input(batch_shape=(1,))
x1 = keras.Input(batch_shape=(1,))
y = keras.ops.logaddexp(x0, x1)
model = keras.Model([x0, x1], y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on
# NumPy agree.
expected = np.array([1.31326169])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=3e-07)
sys.exit(0 if right else 1)
