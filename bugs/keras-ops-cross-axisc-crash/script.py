# ops.cross raises an exception: all libraries against the reference (axis, rank 2)
# ValueError in build: axis -2 is out of bounds for an array with dimension 1.
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
    x = keras.Input(batch_shape=(2, 1))
    y = keras.ops.cross(x, x, axisa=-1, axisb=-1, axisc=-1, axis=-2)
    model = keras.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
