# ops.einsum raises an exception: all libraries against the reference (subscripts='i...,i->i...',
# rank 2, 2 inputs)
# ValueError in build: Cannot broadcast shape, the failure dim has value 3, which cannot be
# broadcasted to 2. Input shapes are: [2, 3] and [2].
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
    x0 = keras.Input(batch_shape=(2, 3))
    x1 = keras.Input(batch_shape=(2,))
    y = keras.ops.einsum("i...,i->i...", x0, x1)
    model = keras.Model([x0, x1], y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
