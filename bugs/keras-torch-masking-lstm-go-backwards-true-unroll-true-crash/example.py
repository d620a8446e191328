import os
os.environ["KERAS_BACKEND"] = "torch"
import keras

layer = keras.layers.LSTM(1, go_backwards=True, unroll=True)
print("Expected:", (1, 1), flush=True)
print("Actual:  ", layer(keras.ops.zeros((1, 2, 1)), mask=keras.ops.ones((1, 2), "bool")).shape)
