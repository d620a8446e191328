import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np

x = np.zeros((3, 3), "float32")
y = np.array([[1], [2], [3]], "float32")
print("Actual:  ", keras.ops.convert_to_numpy(keras.ops.add(x, y)).tolist())
print("Expected:", (x + y).tolist())
