import tf_keras

masking = tf_keras.layers.Masking()
x, y = masking(tf_keras.Input((2, 1))), masking(tf_keras.Input((1, 1)))
print("Expected: (None, 2, 1), as without masks", flush=True)
print("Actual:  ", tf_keras.layers.Add()([x, y]).shape)
