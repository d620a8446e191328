import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = np.array([[[4.0, 3.0], [4.0, 1.0]]], "float32")
y = keras.ops.convert_to_numpy(keras.layers.RMSNormalization(axis=1)(x))
print("Actual:  ", y.round(3).astype("float64").round(3).tolist())
print("Expected:", (x / np.sqrt(np.mean(x**2, axis=1, keepdims=True))).astype("float64").round(3).tolist())
