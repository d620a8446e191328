# IntegerLookup gives another dtype: all libraries against the reference (output_mode='count')
# expected float32[1, 2]; received int64[1, 2]
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
y = keras.layers.IntegerLookup(output_mode="count", vocabulary=(1,))(x)
model = keras.Model(x, y)
expected = [("float32", (1, 2))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
