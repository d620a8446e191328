import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

layer = keras.layers.AdaptiveAveragePooling1D(1)
print("Expected:", layer(tf.ones((1, 1, 1))).numpy().tolist(), "as without tf.function", flush=True)
print("Actual:  ", tf.function(layer, autograph=False)(tf.ones((1, 1, 1))).numpy().tolist())
