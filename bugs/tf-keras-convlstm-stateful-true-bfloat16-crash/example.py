import tensorflow as tf
import tf_keras

layer = tf_keras.layers.ConvLSTM1D(1, 1, stateful=True, dtype="float64")
print("Expected: (1, 1, 1)", flush=True)
print("Actual:  ", layer(tf.zeros((1, 1, 1, 1), "float64")).shape)
