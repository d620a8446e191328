# EinsumDense gives another shape: Keras on every backend (equation, output_shape, rank 4)
# EinsumDense: expected [('float32', (1, 1, 2, 1, 1))]; received [('float32', (1, 2, 1, 1, 1))]
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
x = keras.Input(batch_shape=(1, 1, 2, 1))
layer = keras.layers.EinsumDense(equation="...a,afe->...ef", output_shape=(1, 1))
y = layer(x)
expected = [("float32", (1, 1, 2, 1, 1))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
