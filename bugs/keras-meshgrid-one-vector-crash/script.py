# ops.meshgrid raises an exception: Keras on every backend (all libraries against the reference)
# IndexError in build: list index out of range
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
    y = keras.ops.meshgrid(x, indexing="xy")
    model = keras.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
