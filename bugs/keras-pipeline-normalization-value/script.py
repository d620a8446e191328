# Pipeline raises an exception: Keras, tensorflow backend (layers)
# TypeError in run: Exception encountered when calling Normalization.call(). <tf.Tensor
# 'normalization/BroadcastTo:0' shape=(1, 1) dtype=float32> is out of scope and cannot be used ...
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
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.Pipeline(layers=[keras.layers.Normalization(mean=0.0, variance=1.0)])(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data, training=False))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
