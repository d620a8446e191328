import os
os.environ["KERAS_BACKEND"] = "jax"
import keras

layer = keras.layers.GroupNormalization(groups=-1)
print("Expected:", layer.compute_output_shape((1, 0, 1)), flush=True)
print("Actual:  ", layer(keras.ops.zeros((1, 0, 1))).shape)
