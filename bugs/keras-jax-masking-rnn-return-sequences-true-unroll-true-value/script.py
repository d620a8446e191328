# Masking > RNN gives wrong values: Keras, jax backend (return_sequences=True, unroll=True,
# zero_output_for_mask=True)
# 1 of 4 elements differ, the first at [1, 1, 0]: expected 0 within 5.05e-07; received -0.761594176
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
try:
    import jax
    import keras
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "jax", jax.__version__)
data = np.array([[[0.0], [2.0]], [[-1.0], [0.0]]], "float32")
x = keras.Input(batch_shape=(2, 2, 1))
h1 = keras.layers.Masking()(x)
layer = keras.layers.RNN(
    cell=keras.layers.SimpleRNNCell(units=1), return_sequences=True, unroll=True,
    zero_output_for_mask=True
)
y = layer(h1)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1)),  # kernel
    np.zeros((1, 1)),  # recurrent_kernel
    np.zeros((1,)),  # bias
])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, tf-keras (Keras
# 2) on TensorFlow and 11 more agree.
expected = np.array([[[0.0], [0.96402758]], [[-0.761594156], [0.0]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 5.3e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=5.3e-07)
sys.exit(0 if right else 1)
