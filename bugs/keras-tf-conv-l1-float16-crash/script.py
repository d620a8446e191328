# Conv1D raises an exception: Keras, tensorflow backend (activity_regularizer='l1', float16)
# InvalidArgumentError in run: Exception encountered when calling Functional.call(). cannot compute
# Mul as input #1(zero-based) was expected to be a float tensor but is a half tensor [Op:Mul] ...
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
data = np.zeros((1, 1, 1), "float16")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float16")
layer = keras.layers.Conv1D(filters=1, kernel_size=1, activity_regularizer="l1", dtype="float16")
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
