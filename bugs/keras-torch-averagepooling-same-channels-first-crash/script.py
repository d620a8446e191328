# AveragePooling3D raises an exception: Keras, torch backend (pool_size, padding='same',
# data_format='channels_first')
# RuntimeError in run: Exception encountered when calling AveragePooling3D.call(). input image (T: 2
# H: 2 W: 2) smaller than kernel size (kT: 2 kH: 2 kW: 4) Arguments received by ...
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data = np.zeros((1, 1, 2, 2, 2), "float32")
x = keras.Input(batch_shape=(1, 1, 2, 2, 2))
y = keras.layers.AveragePooling3D(
    pool_size=(2, 2, 4), padding="same", data_format="channels_first"
)(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
