import keras

layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
query, value = keras.Input((3, 8), batch_size=1), keras.Input((5, 8), batch_size=1)
print("Actual:  ", layer(query, value, return_attention_scores=True)[1].shape)
real = layer(keras.ops.ones((1, 3, 8)), keras.ops.ones((1, 5, 8)), return_attention_scores=True)
print("Expected:", tuple(real[1].shape), "as the layer really returns")
