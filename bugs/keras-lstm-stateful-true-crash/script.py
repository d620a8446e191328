# LSTM raises an exception: Keras, export (stateful=True)
# ValueError in export: Exception encountered when calling LSTM.call(). Input tensor
# `functional_1/layer_1/ReadVariableOp:0` enters the loop with shape (1, 1), but has shape ...
import os
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 1, 1))
layer = keras.layers.LSTM(units=1, stateful=True)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    folder = tempfile.mkdtemp()
    model.export(folder, format="tf_saved_model", verbose=False)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
