import keras
import numpy as np

keras.utils.set_random_seed(0)
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=2)
x = np.ones((1, 1, 2), "float32")
mask = np.zeros((1, 1, 1), "bool")  # the query may attend to no key
with_scores, _ = layer(x, x, attention_mask=mask, return_attention_scores=True)
print("Actual:  ", np.round(layer(x, x, attention_mask=mask), 3).tolist())
print("Expected:", np.round(with_scores, 3).tolist(), "(as with return_attention_scores=True)")
