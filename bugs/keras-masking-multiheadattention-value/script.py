# MultiHeadAttention gives another output if the scores are asked for, where a query has no key
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
keras.utils.set_random_seed(0)
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=2)
data = np.ones((1, 1, 2), "float32")
mask = np.zeros((1, 1, 1), "bool")  # the query may attend to no key
expected, _ = layer(data, data, attention_mask=mask, return_attention_scores=True)
seen = layer(data, data, attention_mask=mask)
expected, seen = keras.ops.convert_to_numpy(expected), keras.ops.convert_to_numpy(seen)
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
sys.exit(0 if np.allclose(seen, expected) else 1)
