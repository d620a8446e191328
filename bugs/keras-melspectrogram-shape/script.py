# MelSpectrogram gives another shape: Keras on every backend (all libraries against the reference)
# MelSpectrogram: expected [('float32', (1, 1, 4))]; received [('float32', (1, 1, 5))]
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
x = keras.Input(batch_shape=(1, 3))
y = keras.layers.MelSpectrogram(fft_length=4, sequence_stride=1, num_mel_bins=1)(x)
expected = [("float32", (1, 1, 4))]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
