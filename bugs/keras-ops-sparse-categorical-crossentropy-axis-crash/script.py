# ops.sparse_categorical_crossentropy raises an exception: Keras, tensorflow backend (axis, rank 2)
# ValueError in run: Exception encountered when calling SparseCategoricalCrossentropy.call(). Only
# axis=-1 is currently supported. Received: axis=1 Arguments received by ...
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
data0 = np.array([[0]], "int32")
data1 = np.zeros((1, 3, 1), "float32")
x0 = keras.Input(batch_shape=(1, 1), dtype="int32")
x1 = keras.Input(batch_shape=(1, 3, 1))
y = keras.ops.sparse_categorical_crossentropy(x0, x1, from_logits=True, axis=1)
model = keras.Model([x0, x1], y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model([data0, data1]))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
