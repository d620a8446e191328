import keras

layer = keras.layers.EinsumDense("...a,afe->...ef", output_shape=(5, 6))
print("Actual:  ", layer(keras.Input((2, 3, 4), batch_size=1)).shape)
print("Expected:", tuple(layer(keras.ops.ones((1, 2, 3, 4))).shape), "as the layer really returns")
