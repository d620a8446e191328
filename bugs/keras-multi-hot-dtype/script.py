# ops.multi_hot gives another shape: Keras on every backend (all libraries against the reference)
# (num_classes)
# ops.multi_hot: expected [('float32', (4,))]; received [('int32', (4,))]
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
x = keras.Input(batch_shape=(1,), dtype="int32")
y = keras.ops.multi_hot(x, num_classes=4, dtype="float32")
expected = [("float32", (4,))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
