# Hashing gives another shape: Keras on every backend (all libraries against the reference)
# (output_mode='one_hot', dtype='float64')
# Hashing: expected [('float64', (1, 2, 1))]; received [('float64', (1, 1))]
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
x = keras.Input(batch_shape=(1, 2), dtype="int32")
y = keras.layers.Hashing(num_bins=1, output_mode="one_hot", dtype="float64")(x)
expected = [("float64", (1, 2, 1))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
