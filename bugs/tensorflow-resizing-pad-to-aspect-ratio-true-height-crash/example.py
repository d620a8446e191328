import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

layer = keras.layers.Resizing(height=3, width=1, pad_to_aspect_ratio=True)
print("Expected:", layer(tf.zeros((1, 1, 1, 1))).shape, flush=True)
print("Actual:  ", tf.function(layer, jit_compile=True)(tf.zeros((1, 1, 1, 1))).shape)
