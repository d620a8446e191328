# ops.categorical_crossentropy gives another shape: Keras on every backend (all libraries against
# the reference) (axis, rank 2)
# ops.categorical_crossentropy: expected [('float32', (2,))]; received [('float32', (1,))]
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
x = keras.Input(batch_shape=(1, 2))
y = keras.ops.categorical_crossentropy(x, x, from_logits=True, axis=0)
expected = [("float32", (2,))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
