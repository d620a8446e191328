# Conv1D > Dot gives wrong values: Keras, openvino backend (filters, data_format='channels_first',
# axes, rank 3)
# 2 of 2 elements differ, the first at [0, 0, 0]: expected 0 within 1.08e-06; received -2
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
data0 = np.zeros((1, 1, 2), "float32")
data1 = np.ones((1, 4, 1), "float32")
x0 = keras.Input(batch_shape=(1, 1, 2))
layer = keras.layers.Conv1D(filters=4, data_format="channels_first", kernel_size=1)
h1 = layer(x0)
x1 = keras.Input(batch_shape=(1, 4, 1))
y = keras.layers.Dot(axes=-2)([x1, h1])
model = keras.Model([x0, x1], y)
layer.set_weights([
    np.zeros((1, 1, 4)),  # kernel
    np.array([0.0, 0.0, -1.0, 1.0]),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, tf-keras (Keras
# 2) on TensorFlow and 21 more agree.
expected = np.zeros((1, 1, 2))
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 7.8e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=7.8e-07)
sys.exit(0 if right else 1)
