# AdaptiveMaxPooling1D raises an exception: Keras, tensorflow backend
# TypeError in convert: 'NoneType' object is not callable
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.layers.AdaptiveMaxPooling1D(output_size=1)(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
