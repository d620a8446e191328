import os
os.environ["KERAS_BACKEND"] = "jax"
import keras

x = keras.ops.ones((1, 3, 5))
layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4, value_dim=8)
print("Expected:", layer.compute_output_shape((1, 3, 5), (1, 3, 5)))
print("Actual:  ", layer(x, x).shape)
