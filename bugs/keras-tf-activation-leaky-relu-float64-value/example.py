import tensorflow as tf

print("Actual:  ", tf.nn.leaky_relu(tf.constant(-1.0, tf.float64), alpha=0.1).numpy())
print("Expected:", -0.1)
