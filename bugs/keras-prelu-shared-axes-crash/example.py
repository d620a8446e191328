import keras

last, negative = keras.layers.PReLU(shared_axes=[2]), keras.layers.PReLU(shared_axes=[-1])
last.build((None, 4, 5))
negative.build((None, 4, 5))
print("Actual:  ", tuple(negative.alpha.shape), "with shared_axes=[-1]")
print("Expected:", tuple(last.alpha.shape), "as with shared_axes=[2]")
