# ops.einsum raises an exception: all libraries against the reference (subscripts='ij -> ji', rank
# 2)
# ValueError in build: Number of dimensions in the subscript does not match the number of dimensions
# in the operand, received subscript `ij ` and operand of shape [1, 1].
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
    x = keras.Input(batch_shape=(1, 1))
    y = keras.ops.einsum("ij -> ji", x)
    model = keras.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
