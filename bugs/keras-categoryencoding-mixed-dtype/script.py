# CategoryEncoding gives another dtype: Keras on every backend (all libraries against the reference)
# (num_tokens, dtype='float16', policy='mixed_float16')
# expected float16[1, 4]; received float32[1, 4]
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
data = np.array([[0]], "int32")
x = keras.Input(batch_shape=(1, 1), dtype="int32")
y = keras.layers.CategoryEncoding(num_tokens=4, dtype="mixed_float16")(x)
model = keras.Model(x, y)
expected = [("float16", (1, 4))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
