# ops.trace raises an exception: Keras, tensorflow backend (offset, axis2, rank 4)
# InvalidArgumentError in run: Exception encountered when calling Trace.call(). {{function_node
# __wrapped__SelectV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} condition [2,4], ...
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
data = np.zeros((1, 1, 1, 3), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 3))
y = keras.ops.trace(x, offset=1, axis1=0, axis2=3)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
