# UpSampling2D gives another shape: front end tf-keras (interpolation='lanczos3', float16)
# UpSampling2D: expected [('float16', (1, 2, 2, 1))]; received [('float32', (1, 2, 2, 1))]
import sys

try:
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float16")
y = keras.layers.UpSampling2D(interpolation="lanczos3", dtype="float16")(x)
expected = [("float16", (1, 2, 2, 1))]
seen = [(y.dtype.name, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
