# ops.einsum gives another shape: Keras, tensorflow backend (subscripts='ji', rank 2)
# expected float32[2, 1]; received float32[1, 2]
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
data = np.zeros((1, 2), "float32")
x = keras.Input(batch_shape=(1, 2))
y = keras.ops.einsum("ji", x)
model = keras.Model(x, y)
expected = [("float32", (2, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
