# Masking > SpectralNormalization > Softmax raises an exception: all libraries against the reference
# (rank 3)
# ValueError in run: Exception encountered when calling Softmax.call(). The `mask` must be
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
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
h1 = keras.layers.Masking()(x)
layer = keras.layers.SpectralNormalization(layer=keras.layers.Dense(units=1))
h2 = layer(h1)
y = keras.layers.Softmax()(h2)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
