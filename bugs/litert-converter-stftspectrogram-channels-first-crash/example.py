import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

keras.config.disable_interactive_logging()
layer = keras.layers.STFTSpectrogram(frame_length=2, padding="same", data_format="channels_first")
model = keras.Sequential([keras.Input((1, 2), batch_size=1), layer])
print("Expected: a model", flush=True)
print("Actual:  ", len(tf.lite.TFLiteConverter.from_keras_model(model).convert()), "bytes")
