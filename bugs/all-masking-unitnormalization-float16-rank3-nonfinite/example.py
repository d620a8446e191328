import keras

keras.config.set_dtype_policy("mixed_float16")
y = keras.layers.UnitNormalization()(keras.ops.zeros((1, 2)))
print("Actual:  ", keras.ops.convert_to_numpy(y).tolist())
print("Expected:", [[0.0, 0.0]])
