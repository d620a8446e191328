import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.MelSpectrogram(dtype="float64")
print("Expected:", layer.compute_output_shape((1, 16000)), flush=True)
print("Actual:  ", layer(keras.ops.zeros((1, 16000), "float64")).shape)
