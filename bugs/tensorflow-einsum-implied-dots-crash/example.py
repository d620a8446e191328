import numpy as np
import tensorflow as tf

x, y = np.ones((1, 2), "float32"), np.ones((1, 3), "float32")
try:
    actual = tf.einsum("...c,...h", x, y).shape
except tf.errors.InvalidArgumentError as error:
    actual = type(error).__name__
print("Actual:  ", actual)
print("Expected:", np.einsum("...c,...h", x, y).shape)
