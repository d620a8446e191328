# ops.reciprocal gives another shape: Keras on every backend (all libraries against the reference)
# (float16)
# ops.reciprocal: expected [('float16', (1,))]; received [('float32', (1,))]
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
x = keras.Input(batch_shape=(1,), dtype="float16")
y = keras.ops.reciprocal(x)
expected = [("float16", (1,))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
