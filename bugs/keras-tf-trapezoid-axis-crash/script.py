# ops.trapezoid raises an exception: Keras, tensorflow backend (axis, rank 2)
# ValueError in run: Exception encountered when calling Trapezoid.call(). TypeError: Scalar tensor
# has no `len()` Traceback (most recent call last): raise TypeError("
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
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.ops.trapezoid(x, dx=1.0, axis=-2)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
