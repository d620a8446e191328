import keras

layer = keras.layers.RandomCrop(height=2, width=2)
print("Actual:  ", tuple(layer(keras.ops.zeros((1, 4, 4, 3)), training=False).shape))
print("Expected:", layer.compute_output_shape((1, 4, 4, 3)))
