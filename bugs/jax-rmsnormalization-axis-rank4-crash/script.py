# RMSNormalization raises an exception: all libraries against the reference (axis, rank 4)
# ValueError in run: Exception encountered when calling RMSNormalization.call(). Incompatible shapes
# for broadcasting: shapes=[(1, 2, 3, 1), (2, 1)] Arguments received by RMSNormalization.call(): ...
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
data = np.zeros((1, 2, 3, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 3, 1))
layer = keras.layers.RMSNormalization(axis=(-3, -1))
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((2, 1))])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
