# STFTSpectrogram raises an exception: all libraries against the reference (padding='same',
# data_format='channels_first')
# ConverterError in convert: error: 'tfl.transpose' op expect output type tensor<1x2x1x2xf32>, got
# tensor<1x2x2xf32> note: called from note: called from
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
x = keras.Input(batch_shape=(1, 1, 2))
layer = keras.layers.STFTSpectrogram(frame_length=2, padding="same", data_format="channels_first")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
