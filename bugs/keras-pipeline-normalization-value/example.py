import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = keras.Input((1,))
pipeline = keras.layers.Pipeline([keras.layers.Normalization(mean=0.0, variance=1.0)])
model = keras.Model(x, pipeline(x))
print("Expected:", [[1.0]])
print("Actual:  ", model(np.ones((1, 1)), training=False).tolist())
