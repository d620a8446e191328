# ConvLSTM1D raises an exception: front end tf-keras (stateful=True, bfloat16)
# ValueError in build: Exception encountered when calling layer "layer" (type ConvLSTM1D). Tensor
# conversion requested dtype float32 for Tensor with dtype bfloat16: <tf.Tensor 'layer/while:4' ...
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
    x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="bfloat16")
    layer = keras.layers.ConvLSTM1D(
        filters=1, kernel_size=1, recurrent_activation="sigmoid", recurrent_initializer="Zeros",
        stateful=True, dtype="bfloat16"
    )
    y = layer(x)
    model = keras.Model(x, y)
    layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
