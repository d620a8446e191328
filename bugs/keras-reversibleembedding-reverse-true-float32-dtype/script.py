# ReversibleEmbedding gives another dtype: Keras on every backend (all libraries against the
# reference) (reverse=True, output_dim, reverse_dtype='float32', dtype='float16', float16)
# expected float16[1, 1]; received float32[1, 1]
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
data = np.zeros((1, 3), "float16")
x = keras.Input(batch_shape=(1, 3), dtype="float16")
layer = keras.layers.ReversibleEmbedding(
    input_dim=1, output_dim=3, reverse_dtype="float32", dtype="float16"
)
y = layer(x, reverse=True)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 3))])
expected = [("float16", (1, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
