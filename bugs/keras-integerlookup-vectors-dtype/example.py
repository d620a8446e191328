import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.IntegerLookup(vocabulary=[1], output_mode="one_hot")
print("Actual:  ", layer(keras.ops.ones((1, 1), "int32")).dtype.name)
print("Expected:", layer(keras.Input((1,), dtype="int32")).dtype, "(the symbolic result)")
