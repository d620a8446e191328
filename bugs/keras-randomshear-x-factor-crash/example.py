import keras

layer = keras.layers.RandomShear(x_factor=0.5)
print("Expected: a layer", flush=True)
print("Actual:  ", keras.layers.RandomShear.from_config(layer.get_config()))
