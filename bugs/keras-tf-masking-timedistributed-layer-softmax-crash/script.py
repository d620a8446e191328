# Masking > TimeDistributed raises an exception: Keras, tensorflow backend (layer=Softmax)
# ValueError in run: Exception encountered when calling TimeDistributed.call(). The `mask` must be
# broadcastable to `inputs`. Each mask dimension must be 1 or match the corresponding input ...
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
data = np.zeros((2, 1, 1), "float32")
x = keras.Input(batch_shape=(2, 1, 1))
h1 = keras.layers.Masking()(x)
y = keras.layers.TimeDistributed(layer=keras.layers.Softmax())(h1)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
