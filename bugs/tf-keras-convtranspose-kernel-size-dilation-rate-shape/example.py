import tensorflow as tf
import tf_keras

layer = tf_keras.layers.Conv3DTranspose(1, 2, dilation_rate=2)
print("Actual:  ", tuple(layer(tf.zeros((1, 1, 1, 1, 1))).shape))
print("Expected: (1, 3, 3, 3, 1), the size of a kernel of 2 dilated by 2")
