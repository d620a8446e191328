import keras

layer = keras.layers.Activation("glu")
print("Actual:  ", layer(keras.Input((4,), batch_size=1)).shape)
print("Expected:", tuple(layer(keras.ops.ones((1, 4))).shape), "as the layer really returns")
