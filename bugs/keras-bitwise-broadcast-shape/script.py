# ops.bitwise_and gives another shape: Keras on every backend (all libraries against the reference)
# (rank 2)
# ops.bitwise_and: expected [('int32', (1, 2))]; received [('int32', (1, 1))]
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x0 = keras.Input(batch_shape=(1, 1), dtype="int32")
x1 = keras.Input(batch_shape=(1, 2), dtype="int32")
y = keras.ops.bitwise_and(x0, x1)
expected = [("int32", (1, 2))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
