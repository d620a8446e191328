# RMSNormalization raises an exception: all libraries against the reference (axis, float16, rank 4)
# InvalidArgumentError in run: Exception encountered when calling RMSNormalization.call().
# {{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/device:CPU:0}} ...
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
data = np.zeros((1, 2, 3, 1), "float16")
x = keras.Input(batch_shape=(1, 2, 3, 1), dtype="float16")
layer = keras.layers.RMSNormalization(axis=(-3, -1), dtype="float16")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((2, 1))])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
