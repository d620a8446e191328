# Conv2DTranspose raises an exception: front end tf-keras (padding='same', kernel_size,
# output_padding, float64, empty data)
# InvalidArgumentError in run: Exception encountered when calling layer 'layer' (type
# Conv2DTranspose). {{function_node ...
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.zeros((1, 1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float64")
layer = keras.layers.Conv2DTranspose(
    filters=1, padding="same", kernel_size=(1, 2), output_padding=(0, 0), dtype="float64"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    seen = model(data).numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
