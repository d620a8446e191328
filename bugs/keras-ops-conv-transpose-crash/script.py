# ops.conv_transpose raises an exception: all libraries against the reference
# AttributeError in run: Exception encountered when calling ConvTranspose.call(). 'NoneType' object
# has no attribute 'lower' Arguments received by ConvTranspose.call(): • ...
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.ops.conv_transpose(
    x, x, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
    output_padding=None
)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
