# Discretization gives another shape: Keras on every backend (all libraries against the reference)
# (output_mode='multi_hot', rank 3)
# Discretization: expected [('float32', (1, 1, 2))]; received [('float32', (1, 2, 2))]
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
x = keras.Input(batch_shape=(1, 1, 2))
y = keras.layers.Discretization(bin_boundaries=(0.0,), output_mode="multi_hot")(x)
expected = [("float32", (1, 1, 2))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
