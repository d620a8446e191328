# ops.histogram raises an exception: all libraries against the reference
# AttributeError in run: Exception encountered when calling Histogram.call(). module
# 'keras.src.backend.tensorflow.math' has no attribute 'histogram' Arguments received by ...
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
data = np.zeros((1,), "float32")
x = keras.Input(batch_shape=(1,))
y, h1 = keras.ops.histogram(x, bins=8, range=(-2.0, 2.0))
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
