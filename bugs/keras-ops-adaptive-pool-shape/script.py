# ops.adaptive_max_pool gives another shape: Keras on every backend (all libraries against the
# reference) (output_size)
# ops.adaptive_max_pool: expected [('float32', (1, 1, 1, 1))]; received [('float32', (1, 1, 1, 1,
# 1))]
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
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.ops.adaptive_max_pool(x, output_size=(1, 1), data_format="channels_last")
expected = [("float32", (1, 1, 1, 1))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
