# ops.norm raises an exception: Keras, numpy backend (axis, rank 2)
# TypeError in run: Exception encountered when calling Norm.call(). 'axis' must be None, an integer
# or a tuple of integers Arguments received by Norm.call(): • x=np.ndarray(shape=(1, 1), ...
import os
import sys

os.environ["KERAS_BACKEND"] = "numpy"
try:
    import keras
    import numpy as np
    import numpy
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "numpy", numpy.__version__)
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.ops.norm(x, ord=None, axis=1, keepdims=False)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
