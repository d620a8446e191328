# ops.max_pool raises an exception: Keras, jax backend
# TypeError in run: Exception encountered when calling MaxPool.call(). reduce_window got
# inconsistent window_strides and window_dimensions: got window_strides (1, 1, 2, 1, 1) and ...
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
try:
    import jax
    import keras
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "jax", jax.__version__)
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.max_pool(x, pool_size=2, strides=None, padding="valid", data_format="channels_last")
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
