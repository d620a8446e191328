import tensorflow as tf
import tf_keras

layer = tf_keras.layers.UpSampling2D(interpolation="bilinear", dtype="float16")
print("Actual:  ", layer(tf.ones((1, 1, 1, 1), "float16")).dtype.name)
print("Expected: float16")
