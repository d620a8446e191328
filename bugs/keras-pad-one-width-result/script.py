# ops.pad raises an exception: Keras, tensorflow backend (constant_values, rank 2)
# InvalidArgumentError in run: Exception encountered when calling Pad.call(). {{function_node
# __wrapped__PadV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} The first dimension of ...
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
y = keras.ops.pad(x, mode="constant", pad_width=1, constant_values=7.0)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
