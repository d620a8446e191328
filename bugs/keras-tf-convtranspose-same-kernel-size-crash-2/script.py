# Conv1DTranspose raises an exception: Keras, tensorflow backend (padding='same', kernel_size,
# output_padding)
# AbortedError in run: Exception encountered when calling Conv1DTranspose.call(). {{function_node
# ...
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
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
layer = keras.layers.Conv1DTranspose(filters=1, padding="same", kernel_size=2, output_padding=(0,))
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
