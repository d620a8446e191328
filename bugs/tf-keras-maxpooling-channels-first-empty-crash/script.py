# MaxPooling1D raises an exception: front end tf-keras (data_format='channels_first', empty data)
# ValueError in build: Exception encountered when calling layer "layer" (type MaxPooling1D).
# Negative dimension size caused by subtracting 1 from 0 for '{{node layer/MaxPool}} = ...
import sys

try:
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1, 0, 2))
    y = keras.layers.MaxPooling1D(pool_size=2, data_format="channels_first")(x)
    model = keras.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
