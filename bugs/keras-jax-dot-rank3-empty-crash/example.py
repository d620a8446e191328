import os
os.environ["KERAS_BACKEND"] = "jax"
import keras

layer = keras.layers.Dot(axes=-1)
print("Expected:", layer.compute_output_shape([(0, 1, 1), (0, 1, 1, 1)]), flush=True)
print("Actual:  ", layer([keras.ops.zeros((0, 1, 1)), keras.ops.zeros((0, 1, 1, 1))]).shape)
