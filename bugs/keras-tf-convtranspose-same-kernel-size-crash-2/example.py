import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.Conv2DTranspose(2, 4, strides=2, padding="same", output_padding=0)
print("Expected:", layer.compute_output_shape((1, 8, 8, 3)), flush=True)
print("Actual:  ", layer(keras.ops.zeros((1, 8, 8, 3))).shape)
