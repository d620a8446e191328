import tensorflow as tf

x = tf.reshape([0.0, -1.0, 0.0, -1.0], (1, 4, 1, 1))
resize = lambda x: tf.image.resize(x, (12, 1), method="bilinear")
compiled = tf.function(resize, jit_compile=True)
print("Actual:  ", [round(float(value), 3) for value in tf.reshape(compiled(x), -1)])
print("Expected:", [round(float(value), 3) for value in tf.reshape(resize(x), -1)])
