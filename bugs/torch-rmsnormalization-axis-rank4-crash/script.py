# RMSNormalization raises an exception: all libraries against the reference (axis, rank 4)
# RuntimeError in run: Exception encountered when calling RMSNormalization.call(). The size of
# tensor a (3) must match the size of tensor b (2) at non-singleton dimension 2 Arguments ...
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
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
