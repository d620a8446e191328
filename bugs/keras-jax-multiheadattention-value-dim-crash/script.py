# MultiHeadAttention raises an exception: Keras, jax backend (value_dim)
# TypeError in run: Exception encountered when calling MultiHeadAttention.call(). cannot reshape
# array of shape (1, 1, 1, 1, 2) (size 2) into shape (1, 1, 1, 1) (size 1) Arguments received by ...
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1, value_dim=2)
y = layer(x, x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
