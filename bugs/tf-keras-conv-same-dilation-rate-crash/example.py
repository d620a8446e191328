import tensorflow as tf

def conv(x, kernel):
    return tf.nn.convolution(x, kernel, padding="SAME", dilations=2)

x, kernel = tf.zeros((1, 0, 1)), tf.zeros((1, 1, 1))
print("Expected:", conv(x, kernel).shape, "as without tf.function", flush=True)
print("Actual:  ", tf.function(conv, autograph=False)(x, kernel).shape)
