# Conv3DTranspose raises an exception: runtime TensorFlow (padding='same', kernel_size,
# output_padding, empty data)
# InvalidArgumentError in run: Conv3DBackpropInputV2: Size of out_backprop doesn't match computed:
# actual = 1, computed = 0 spatial_dim: 2 input: 0 filter: 2 output: 1 stride: 1 dilation: 1 ...
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
data = np.zeros((1, 1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1, 1))
layer = keras.layers.Conv3DTranspose(
    filters=1, padding="same", kernel_size=(1, 2, 1), output_padding=(0, 0, 0)
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
function = tf.function(lambda given: model(given), jit_compile=True)
traced = function.get_concrete_function(tf.TensorSpec((1, 1, 1, 1, 1), "float32"))
print("expected: no exception")
try:
    seen = traced(tf.constant(data, "float32")).numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
