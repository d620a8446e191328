import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

layer = keras.layers.RMSNormalization(axis=1)
layer.build((1, 2, 2))
layer.set_weights([np.array([1.0, 10.0])])  # one scale for each index of axis 1
y = layer(np.ones((1, 2, 2), "float32"))
print("Actual:  ", np.round(y).tolist())
print("Expected:", [[[1.0, 1.0], [10.0, 10.0]]])
