import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
import tensorflow as tf

x = keras.Input((2, 2, 1))
model = keras.Model(x, keras.layers.BatchNormalization()(keras.layers.Resizing(2, 2)(x)))
model.export("exported", verbose=False)
data = np.arange(4, dtype="float32").reshape(1, 2, 2, 1)
loaded = tf.saved_model.load("exported")
print("Actual:  ", loaded.serve(data).numpy().ravel().tolist())
print("Expected:", model.predict(data, verbose=0).ravel().tolist())
