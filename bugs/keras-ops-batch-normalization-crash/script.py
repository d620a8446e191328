# ops.batch_normalization raises an exception: Keras on every backend (all libraries against the
# reference) (4 inputs)
# AttributeError in build: 'NoneType' object has no attribute 'shape'
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
    x0 = keras.Input(batch_shape=(1, 1))
    x1 = keras.Input(batch_shape=(1,))
    x2 = keras.Input(batch_shape=(1,))
    x3 = keras.Input(batch_shape=(1,))
    y = keras.ops.batch_normalization(x0, mean=x1, variance=x2, offset=x3, axis=-1, epsilon=0.001)
    model = keras.Model([x0, x1, x2, x3], y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
