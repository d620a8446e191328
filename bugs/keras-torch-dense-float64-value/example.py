import os
os.environ["KERAS_BACKEND"] = "torch"
import keras

layer = keras.layers.Dense(1, dtype="float64", kernel_initializer=keras.initializers.Constant(0.1))
print("Actual:  ", layer(keras.ops.ones((1, 1), "float64")).item())
print("Expected:", 0.1)
