# ops.isclose raises an exception: Keras, openvino backend (equal_nan=True)
# AttributeError in run: Exception encountered when calling Isclose.call(). module
# 'openvino.opset16' has no attribute 'isnan' Arguments received by Isclose.call(): • ...
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
data = np.zeros((1,), "float32")
x = keras.Input(batch_shape=(1,))
y = keras.ops.isclose(x, x, rtol=1e-05, atol=1e-08, equal_nan=True)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
