# ops.dot_product_attention raises an exception: Keras, tensorflow backend
# InvalidArgumentError in run: Exception encountered when calling DotProductAttention.call().
# {{function_node __wrapped__Einsum_N_2_device_/job:localhost/replica:0/task:0/device:CPU:0}} ...
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
data0 = np.zeros((1, 1, 2, 1), "float32")
data1 = np.zeros((1, 1, 1, 1), "float32")
data2 = np.zeros((1, 1, 1, 1), "float32")
x0 = keras.Input(batch_shape=(1, 1, 2, 1))
x1 = keras.Input(batch_shape=(1, 1, 1, 1))
x2 = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.ops.dot_product_attention(x0, key=x1, value=x2, scale=None, is_causal=False)
model = keras.Model([x0, x1, x2], y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model([data0, data1, data2]))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
