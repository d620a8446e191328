# ops.correlate raises an exception: Keras, tensorflow backend
# InvalidArgumentError in run: Exception encountered when calling Correlate.call(). {{function_node
# __wrapped__Conv2D_device_/job:localhost/replica:0/task:0/device:CPU:0}} Computed output size ...
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
data0 = np.zeros((1,), "float32")
data1 = np.zeros((3,), "float32")
x0 = keras.Input(batch_shape=(1,))
x1 = keras.Input(batch_shape=(3,))
y = keras.ops.correlate(x0, x1, mode="valid")
model = keras.Model([x0, x1], y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model([data0, data1]))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
