# PReLU with a negative axis in shared_axes shares the axis before it; here there is none
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
    keras.layers.PReLU(shared_axes=[-1])(keras.ops.ones((1, 4)))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
