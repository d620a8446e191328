# Masking > LSTM raises an exception: Keras, torch backend (go_backwards=True, unroll=True)
# AttributeError in run: Exception encountered when calling LSTM.call(). 'tuple' object has no
# attribute 'shape' Arguments received by LSTM.call(): • ...
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
h1 = keras.layers.Masking()(x)
layer = keras.layers.LSTM(units=1, go_backwards=True, unroll=True)
y = layer(h1)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
