# ConvLSTM2D raises an exception: Keras, tensorflow backend (data_format='channels_first', empty
# data)
# ValueError in run: Exception encountered when calling ConvLSTMCell.call(). in user code: File
# "keras/src/backend/tensorflow/nn.py", line 840, in _conv_xla * return _conv() File ...
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
data = np.zeros((0, 2, 2, 1, 1), "float32")
x = keras.Input(batch_shape=(0, 2, 2, 1, 1))
layer = keras.layers.ConvLSTM2D(filters=1, kernel_size=1, data_format="channels_first")
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
