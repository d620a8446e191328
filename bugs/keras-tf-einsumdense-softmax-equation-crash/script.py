# EinsumDense raises an exception: Keras, tensorflow backend (equation, output_shape,
# activation='softmax', rank 5)
# AbortedError in run: Exception encountered when calling EinsumDense.call(). {{function_node
# __wrapped__Softmax_device_/job:localhost/replica:0/task:0/device:CPU:0}} Input dims must be <= ...
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
data = np.zeros((1, 3, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 3, 1, 1, 1))
layer = keras.layers.EinsumDense(
    equation="abc...,cgf->abfg...", output_shape=(3, 1, 1), activation="softmax"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 1, 1))])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
