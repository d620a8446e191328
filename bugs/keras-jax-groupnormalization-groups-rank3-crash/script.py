# GroupNormalization raises an exception: Keras, jax backend (groups, rank 3, empty data)
# ZeroDivisionError in run: Exception encountered when calling GroupNormalization.call(). integer
# modulo by zero Arguments received by GroupNormalization.call(): • inputs=jnp.ndarray(shape=(1, ...
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
data = np.zeros((1, 0, 1), "float32")
x = keras.Input(batch_shape=(1, 0, 1))
layer = keras.layers.GroupNormalization(groups=-1)
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
