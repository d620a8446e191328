# MelSpectrogram gives wrong values: Keras on every backend (all libraries against the reference)
# (sequence_stride, power_to_db=False, float64)
# 3 of 3 elements differ, the first at [0, 0, 0]: expected 0.494224113 within 3.33e-15; received
# 0.494224161
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
data = np.ones((1, 4), "float64")
x = keras.Input(batch_shape=(1, 4), dtype="float64")
y = keras.layers.MelSpectrogram(
    fft_length=4, sequence_stride=2, num_mel_bins=1, power_to_db=False, dtype="float64"
)(x)
model = keras.Model(x, y)
# From the documented meaning of the layers, computed in float64.
expected = np.full((1, 1, 3), 0.49422411271239869)
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.3e-15 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=3.3e-15)
sys.exit(0 if right else 1)
