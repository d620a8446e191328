# Add raises an exception: converter of LiteRT (rank 3)
# ConverterError in convert: error: 'tf.Transpose' op x should be of the same rank with y, got x of
# rank 3, and y of rank 4 note: called from note: called from
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
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.layers.Add()([x, x])
model = keras.Model(x, y)
print("expected: no exception")
try:
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
