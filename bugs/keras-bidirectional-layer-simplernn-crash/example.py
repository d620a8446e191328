import keras

layer = keras.layers.Bidirectional(keras.layers.SimpleRNN(2, return_state=True, stateful=True))
print("Expected:", layer.compute_output_shape((1, 3, 4)))
print("Actual:  ", [tuple(y.shape) for y in layer(keras.ops.ones((1, 3, 4)))])
