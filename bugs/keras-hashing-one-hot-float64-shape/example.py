import keras

layer = keras.layers.Hashing(num_bins=3, output_mode="one_hot")
stated = layer(keras.Input((2,), batch_size=1, dtype="int32"))
computed = layer(keras.ops.ones((1, 2), "int32"))
print("Actual:  ", tuple(stated.shape), "(the symbolic result)")
print("Expected:", tuple(computed.shape), "(what the layer returns)")
