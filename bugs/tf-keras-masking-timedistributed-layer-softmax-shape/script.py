# Masking > TimeDistributed gives another shape: front end tf-keras (layer=Softmax)
# TimeDistributed: expected [('float32', (1, 2, 1))]; received [('float32', (1, 2, 2))]
import sys

try:
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 2, 1))
h1 = keras.layers.Masking()(x)
y = keras.layers.TimeDistributed(layer=keras.layers.Softmax())(h1)
expected = [("float32", (1, 2, 1))]
seen = [(y.dtype.name, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
