# SeparableConv1D raises an exception: front end tf-keras (depth_multiplier, padding='same',
# float16, empty data)
# ValueError in build: Exception encountered when calling layer "layer" (type SeparableConv1D).
# Negative dimension size caused by subtracting 1 from 0 for '{{node layer/separable_conv2d}} = ...
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1, 0, 3), dtype="float16")
    layer = keras.layers.SeparableConv1D(
        filters=1, depth_multiplier=4, padding="same", kernel_size=1, dtype="float16"
    )
    y = layer(x)
    model = keras.Model(x, y)
    layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
