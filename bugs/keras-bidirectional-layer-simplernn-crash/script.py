# Bidirectional raises an exception: Keras on every backend (layer=SimpleRNN)
# TypeError in build: unsupported operand type(s) for *: 'generator' and 'int'
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
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1, 1, 1))
    layer = keras.layers.Bidirectional(
        layer=keras.layers.SimpleRNN(units=1, return_state=True, stateful=True)
    )
    y, h1, h2 = layer(x)
    model = keras.Model(x, y)
    layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
