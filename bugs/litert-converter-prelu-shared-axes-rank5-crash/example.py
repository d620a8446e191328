import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

model = keras.Sequential([keras.Input((1, 1, 1, 1), batch_size=1), keras.layers.PReLU(shared_axes=[1, 2])])
model.export("exported", verbose=False)
print("Expected: a model", flush=True)
print("Actual:  ", len(tf.lite.TFLiteConverter.from_saved_model("exported").convert()), "bytes")
