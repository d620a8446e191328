# STFTSpectrogram raises an exception: Keras on every backend (all libraries against the reference)
# (padding='same', open sizes)
# TypeError in build: Exception encountered when calling STFTSpectrogram.call(). unsupported operand
# type(s) for *: 'int' and 'NoneType' Arguments received by STFTSpectrogram.call(): • ...
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1, 1, None))
    layer = keras.layers.STFTSpectrogram(frame_length=2, padding="same")
    y = layer(x)
    model = keras.Model(x, y)
    layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
