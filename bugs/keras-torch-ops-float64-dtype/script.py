# ops.arctan gives another shape: Keras, torch backend (float64)
# ops.arctan: expected [('float64', (1,))]; received [('float32', (1,))]
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
x = keras.Input(batch_shape=(1,), dtype="float64")
y = keras.ops.arctan(x)
expected = [("float64", (1,))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
