# ops.pad raises an exception: Keras on every backend (all libraries against the reference)
# (pad_width)
# IndexError in build: Exception encountered when calling Pad.call(). tuple index out of range
# Arguments received by Pad.call(): • args=('<KerasTensor shape=(1,), dtype=float32, ...
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
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1,))
    y = keras.ops.pad(x, mode="constant", pad_width=(0,), constant_values=None)
    model = keras.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
