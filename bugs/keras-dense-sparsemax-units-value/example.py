import keras

y = keras.activations.sparsemax(keras.ops.array([[1.0, 1.0, 0.0]]))
print("Actual:  ", keras.ops.convert_to_numpy(y).tolist(), "with the sum", float(keras.ops.sum(y)))
print("Expected:", [[0.5, 0.5, 0.0]], "with the sum", 1.0)
