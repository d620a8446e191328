# LSTM raises an exception: Keras, tensorflow backend (empty data)
# InvalidArgumentError in run: Exception encountered when calling LSTMCell.call(). {{function_node
# __wrapped__BiasAdd_device_/job:localhost/replica:0/task:0/device:CPU:0}} Biases must be 1D: ...
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
data = np.zeros((0, 1, 1), "float32")
x = keras.Input(batch_shape=(0, 1, 1))
layer = keras.layers.LSTM(units=1)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
