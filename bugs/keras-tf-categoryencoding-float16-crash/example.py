import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.CategoryEncoding(num_tokens=3, dtype="float16")
print("Expected:", [[1.0, 0.0, 1.0]], flush=True)
print("Actual:  ", keras.ops.convert_to_numpy(layer(keras.ops.array([[0, 2]]))).tolist())
