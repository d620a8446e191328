# MelSpectrogram raises an exception: Keras, tensorflow backend (fft_length=2, sequence_stride,
# float64)
# InvalidArgumentError in run: Exception encountered when calling MelSpectrogram.call(). cannot
# compute Sub as input #1(zero-based) was expected to be a double tensor but is a float tensor ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.zeros((1, 2), "float64")
x = keras.Input(batch_shape=(1, 2), dtype="float64")
y = keras.layers.MelSpectrogram(fft_length=2, sequence_stride=2, num_mel_bins=1, dtype="float64")(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
