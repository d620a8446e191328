# LayerNormalization raises an exception: Keras, torch backend (axis=-2, rank 3)
# RuntimeError in run: Exception encountered when calling LayerNormalization.call(). Given
# normalized_shape=[2], expected input with shape [*, 2], but got input of size[1, 2, 1] ...
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
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
layer = keras.layers.LayerNormalization(axis=-2)
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
