import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer = keras.layers.CenterCrop(4, 4, dtype="mixed_float16")
print("Actual:  ", layer(keras.ops.ones((1, 2, 2, 3))).dtype.name)
print("Expected:", layer(keras.Input((2, 2, 3))).dtype, "as the layer itself says")
