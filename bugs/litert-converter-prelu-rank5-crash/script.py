# PReLU raises an exception: converter of LiteRT (rank 5)
# ConverterError in convert: error: 'tfl.prelu' op failed to verify that operands do not have the
# same shape or broadcastable shapes within the rank 4 note: called from note: called from
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
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
layer = keras.layers.PReLU()
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 1, 1, 1))])
print("expected: no exception")
try:
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
