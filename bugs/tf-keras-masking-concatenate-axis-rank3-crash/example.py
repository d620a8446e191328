import tf_keras

x, y = tf_keras.layers.Masking()(tf_keras.Input((1, 2))), tf_keras.Input((1, 2))
print("Expected: (None, 2, 2), as without a mask", flush=True)
print("Actual:  ", tf_keras.layers.Concatenate(axis=1)([x, y]).shape)
