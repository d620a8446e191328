import tensorflow as tf

x = tf.reshape(tf.constant([0.0, 1.0, 2.0]), (1, 3, 1, 1, 1))
y = tf.nn.conv3d(tf.cast(x, "float16"), tf.ones((1, 1, 1, 1, 1), "float16"), (1, 3, 1, 1, 1), "SAME")
print("Actual:  ", y.numpy().item())
print("Expected:", 0.0, "(one window, no padding: it begins at the first element)")
