import keras
import numpy as np

x = keras.Input((2, 1))
h = keras.layers.Masking()(x)
h = keras.layers.Dense(2, kernel_initializer="zeros")(h)
model = keras.Model(x, keras.layers.Softmax()(h))
data = np.array([[[1], [1]], [[1], [0]]], "float32")  # only the last step of sample 1 is masked
print("Actual:  ", model.predict(data, verbose=0).tolist())
print("Expected:", [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], "masked, any value"]])
