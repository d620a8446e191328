import tensorflow as tf
import tf_keras

layer = tf_keras.layers.Conv2DTranspose(2, 4, strides=2, padding="same", output_padding=0)
print("Expected:", tuple(layer.compute_output_shape((1, 8, 8, 3))), flush=True)
print("Actual:  ", layer(tf.zeros((1, 8, 8, 3))).shape)
