import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

layer = keras.layers.CategoryEncoding(num_tokens=3)
print("Expected:", [[0.0, 0.0, 0.0]], "as on TensorFlow", flush=True)
print("Actual:  ", keras.ops.convert_to_numpy(layer(np.zeros((1, 0), "int32"))).tolist())
