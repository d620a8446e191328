# RNN raises an exception: Keras, tensorflow backend (cell=StackedRNNCells, stateful=True)
# Blamed: Keras, tensorflow backend.
# AttributeError in run: 'ListWrapper' object has no attribute 'assign'
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
layer = keras.layers.RNN(
    cell=keras.layers.StackedRNNCells(cells=[keras.layers.SimpleRNNCell(units=1),
    keras.layers.SimpleRNNCell(units=1)]), stateful=True
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    for layer in model.layers:
        if getattr(layer, "stateful", False):
            layer.reset_states()
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
