# ops.norm raises an exception: Keras, tensorflow backend (rank 3)
# ValueError in run: Exception encountered when calling Norm.call(). Invalid axis values. Received:
# axis=(0, 1, 2) Arguments received by Norm.call(): • x=tf.Tensor(shape=(1, 1, 1), dtype=float32)
# Seen on x86-64-v3 (AMD EPYC).
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
y = keras.ops.norm(x, ord=None, axis=None, keepdims=False)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
