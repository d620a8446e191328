import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.ReversibleEmbedding(1, 3, reverse_dtype="float32", dtype="float16")
print("Actual:  ", layer(keras.ops.zeros((1, 3)), reverse=True).dtype.name)
print("Expected:", layer(keras.Input((3,)), reverse=True).dtype, "(the symbolic result)")
