# ops.meshgrid gives another shape: Keras on every backend (all libraries against the reference)
# (indexing='ij', float16, 2 inputs)
# ops.meshgrid: expected [('float16', (1, 1)), ('float16', (1, 1))]; received [('float32', (1, 1)),
# ('float32', (1, 1))]
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
y0, y1 = keras.ops.meshgrid(x, x, indexing="ij")
expected = [("float16", (1, 1)), ("float16", (1, 1))]
seen = [(y0.dtype, tuple(y0.shape)), (y1.dtype, tuple(y1.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
