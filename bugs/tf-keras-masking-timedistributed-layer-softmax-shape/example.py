import numpy as np
import tf_keras

x = tf_keras.Input((2, 1))
h = tf_keras.layers.Dense(2, kernel_initializer="zeros")(tf_keras.layers.Masking()(x))
model = tf_keras.Model(x, tf_keras.layers.Softmax()(h))
data = np.array([[[1], [1]], [[1], [0]]], "float32")  # only the last step of sample 1 is masked
print("Actual:  ", model.predict(data, verbose=0).tolist())
print("Expected:", [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], "masked, any value"]])
