import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.Input((1, 1, 1)), keras.layers.Solarization()])
model.export("exported", verbose=False)
loaded = tf.saved_model.load("exported")
data = np.zeros((1, 1, 1, 1), "float32")
print("Actual:  ", loaded.serve(data).numpy().item())
print("Expected:", model.predict(data, verbose=0).item())
