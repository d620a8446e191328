import os
os.environ["KERAS_BACKEND"] = "jax"
import keras

cell = keras.layers.SimpleRNNCell(1, kernel_initializer="ones")
mask = keras.ops.array([[True, False]])
for unroll in (True, False):
    rnn = keras.layers.RNN(cell, return_sequences=True, zero_output_for_mask=True, unroll=unroll)
    print("Actual:  " if unroll else "Expected:", rnn(keras.ops.ones((1, 2, 1)), mask=mask).tolist())
