# Conv3DTranspose gives another shape: front end tf-keras (kernel_size, dilation_rate)
# Conv3DTranspose: expected [('float32', (1, 3, 1, 1, 1))]; received [('float32', (1, 2, 1, 1, 1))]
import sys

try:
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
layer = keras.layers.Conv3DTranspose(filters=1, kernel_size=(2, 1, 1), dilation_rate=(2, 1, 1))
y = layer(x)
expected = [("float32", (1, 3, 1, 1, 1))]
seen = [(y.dtype.name, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
