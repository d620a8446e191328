# AdaptiveMaxPooling1D raises an exception: Keras, tensorflow backend
# ValueError in trace: in user code: File "routes/tensorflow.py", line 55, in None * lambda *given:
# built.model(list(given), training=False) File "keras/src/utils/traceback_utils.py", line 122, ...
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
    function = tf.function(lambda given: model(given))
    traced = function.get_concrete_function(tf.TensorSpec((1, 1, 1), "float32"))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
