import tensorflow as tf

def attention(x):
    return tf.nn.softmax(tf.einsum("ai,bi->ab", x, x))

x = tf.constant([[1883316.0], [-339.0]])
print("Actual:  ", tf.function(attention, jit_compile=True)(x).numpy().tolist())
print("Expected:", attention(x).numpy().tolist())
