# Masking > RNN gives wrong values: Keras on every backend (zero_output_for_mask=True)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.761594156 within 8.12e-07; received 0
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
data = np.array([[[-2.0], [1.0], [1.0], [-2.0], [1.0], [0.0]]], "float32")
x = keras.Input(batch_shape=(1, 6, 1))
h1 = keras.layers.Masking()(x)
layer = keras.layers.RNN(cell=keras.layers.SimpleRNNCell(units=1), zero_output_for_mask=True)
y = layer(h1)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1)),  # kernel
    np.array([[-0.0]]),  # recurrent_kernel
    np.array([-0.0]),  # bias
])
# From the documented meaning in float64; keras-tf > tf2onnx > onnx's ReferenceEvaluator agrees.
expected = np.array([[0.761594156]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.6e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.6e-07)
sys.exit(0 if right else 1)
