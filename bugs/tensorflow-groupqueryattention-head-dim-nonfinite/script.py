# GroupQueryAttention gives NaN or Inf in the wrong places: runtime TensorFlow (head_dim)
# 2 of 2 elements differ, the first at [0, 0, 0]: expected 0 within 4.7e-38; received nan
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
data = np.array([[[-2.965504e+06], [-73728.0]]], "float32")
x = keras.Input(batch_shape=(1, 2, 1))
layer = keras.layers.GroupQueryAttention(head_dim=2, num_query_heads=1, num_key_value_heads=1)
y = layer(x, x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 2)),  # kernel_query
    np.zeros((1, 2)),  # bias_query
    np.ones((1, 1, 2)),  # kernel_key
    np.zeros((1, 2)),  # bias_key
    np.zeros((1, 1, 2)),  # kernel_value
    np.zeros((1, 2)),  # bias_value
    np.zeros((1, 2, 1)),  # kernel_output
    np.zeros((1,)),  # bias_output
])
function = tf.function(lambda given: model(given), jit_compile=True)
traced = function.get_concrete_function(tf.TensorSpec((1, 2, 1), "float32"))
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = traced(tf.constant(data, "float32")).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
