import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

model = keras.Sequential([keras.Input(batch_shape=(1, 2, 3)), keras.layers.LSTM(4, stateful=True)])
print("Expected: a SavedModel", flush=True)
model.export("exported", verbose=False)
