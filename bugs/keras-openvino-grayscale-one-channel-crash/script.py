# ops.image.rgb_to_grayscale raises an exception: Keras, openvino backend
# UnboundLocalError in run: Exception encountered when calling RGBToGrayscale.call(). cannot access
# local variable 'grayscales' where it is not associated with a value Arguments received by ...
import os
import sys

os.environ["KERAS_BACKEND"] = "openvino"
try:
    import keras
    import numpy as np
    import openvino
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "openvino", openvino.__version__)
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.ops.image.rgb_to_grayscale(x, data_format="channels_last")
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
