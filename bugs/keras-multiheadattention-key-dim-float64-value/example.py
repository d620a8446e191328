import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

print("Actual:  ", float(keras.ops.cast(0.1, "float64")))  # what MultiHeadAttention does to its scale
print("Expected:", 0.1)
