import tensorflow as tf

print("Actual:  ", tf.nn.max_pool(tf.fill((1, 2, 2, 1), float("nan")), 2, 2, "VALID").numpy().item())
print("Expected:", tf.reduce_max(tf.fill((1, 2, 2, 1), float("nan"))).numpy().item())
