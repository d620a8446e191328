import keras

layer = keras.layers.Discretization([0.0], output_mode="count")
print("Actual:  ", tuple(layer(keras.ops.ones((2, 3, 7))).shape))
print("Expected:", (2, 3, 2), "(the last axis is that of a sample)")
