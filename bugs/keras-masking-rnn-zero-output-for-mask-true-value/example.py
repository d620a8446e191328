import keras

cell = keras.layers.SimpleRNNCell(1, kernel_initializer="ones")
mask = keras.ops.array([[True, False]])
for zero in (True, False):  # "only relevant when return_sequences is True"
    rnn = keras.layers.RNN(cell, zero_output_for_mask=zero)
    y = rnn(keras.ops.ones((1, 2, 1)), mask=mask)
    print("Actual:  " if zero else "Expected:", keras.ops.convert_to_numpy(y).tolist())
