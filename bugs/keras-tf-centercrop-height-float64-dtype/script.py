# CenterCrop on TensorFlow returns float32 for an image smaller than the crop, whatever its dtype
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
layer = keras.layers.CenterCrop(4, 4, dtype="mixed_float16")
expected = keras.backend.standardize_dtype(layer(keras.Input((2, 2, 3))).dtype)  # as the layer itself says
seen = keras.backend.standardize_dtype(layer(keras.ops.ones((1, 2, 2, 3))).dtype)
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
