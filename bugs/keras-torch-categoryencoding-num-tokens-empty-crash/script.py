# CategoryEncoding raises an exception: Keras, torch backend (num_tokens, empty data)
# IndexError in run: Exception encountered when calling CategoryEncoding.call(). amax(): Expected
# reduction dim 1 to have non-zero size. Arguments received by CategoryEncoding.call(): • ...
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
data = np.zeros((1, 0), "int32")
x = keras.Input(batch_shape=(1, 0), dtype="int32")
y = keras.layers.CategoryEncoding(num_tokens=9)(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
