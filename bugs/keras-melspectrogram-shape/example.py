import keras

layer = keras.layers.MelSpectrogram(fft_length=4, sequence_stride=1, num_mel_bins=1)
stated = layer(keras.Input((3,), batch_size=1))
computed = layer(keras.ops.ones((1, 3)))
print("Actual:  ", tuple(stated.shape), "(the symbolic result)")
print("Expected:", tuple(computed.shape), "(what the layer returns)")
