import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.MelSpectrogram(dtype="float64")
matrix = layer.linear_to_mel_weight_matrix()
print("Actual:  ", keras.backend.standardize_dtype(matrix.dtype))
print("Expected: float64")
