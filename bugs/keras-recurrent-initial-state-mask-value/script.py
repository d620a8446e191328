# Masking > SimpleRNN gives wrong values: all libraries against the reference (2 inputs)
# 1 of 1 elements differ, the first at [0, 0]: expected 0 within 4.7e-38; received 0.761594176
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data0 = np.zeros((1, 1, 1), "float32")
data1 = np.ones((1, 1), "float32")
x0 = keras.Input(batch_shape=(1, 1, 1))
h1 = keras.layers.Masking()(x0)
x1 = keras.Input(batch_shape=(1, 1))
layer = keras.layers.SimpleRNN(units=1)
y = layer(h1, initial_state=[x1])
model = keras.Model([x0, x1], y)
layer.set_weights([
    np.zeros((1, 1)),  # kernel
    np.ones((1, 1)),  # recurrent_kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning of the layers, computed in float64.
expected = np.zeros((1, 1))
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
