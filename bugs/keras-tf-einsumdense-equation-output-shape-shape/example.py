import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

y = keras.ops.einsum("abcd,ced->abe", keras.ops.zeros((1, 5, 2, 0)), keras.ops.zeros((2, 1, 0)))
print("Actual:  ", tuple(y.shape))
print("Expected:", (1, 5, 1))
