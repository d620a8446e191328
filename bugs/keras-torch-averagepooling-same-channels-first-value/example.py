import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = np.array([[[0.0], [1.0], [2.0], [3.0]]], "float32")
y = keras.layers.AveragePooling1D(pool_size=4, strides=1, padding="same")(x)
print("Actual:  ", keras.ops.convert_to_numpy(y).ravel().round(3).tolist())
print("Expected:", [1.0, 1.5, 2.0, 2.5], "(the mean of the elements inside)")
