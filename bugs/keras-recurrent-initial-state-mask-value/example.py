import keras

embed = keras.layers.Embedding(5, 2, mask_zero=True)
lstm = keras.layers.LSTM(1, kernel_initializer="ones", recurrent_initializer="ones")
zeros = keras.ops.zeros((1, 1))
for padded in ([[1, 2, 0]], [[1, 2]]):  # 0 is padding, and must not count
    y = lstm(embed(keras.ops.array(padded)), initial_state=[zeros, zeros])
    print("Actual:  " if len(padded[0]) == 3 else "Expected:", keras.ops.convert_to_numpy(y).tolist())
