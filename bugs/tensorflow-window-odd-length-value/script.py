# MelSpectrogram gives wrong values: Keras, tensorflow backend (sequence_stride, sequence_length)
# 3 of 3 elements differ, the first at [0, 0, 0]: expected -2.54923547 within 1.4e-05; received
# -3.06076026
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
data = np.ones((1, 4), "float32")
x = keras.Input(batch_shape=(1, 4))
y = keras.layers.MelSpectrogram(
    fft_length=4, sequence_stride=2, sequence_length=3, num_mel_bins=1
)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.full((1, 1, 3), -2.54923547)
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.4e-05 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=1.4e-05)
sys.exit(0 if right else 1)
