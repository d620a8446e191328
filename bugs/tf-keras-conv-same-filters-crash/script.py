# Conv3D raises an exception: front end tf-keras (filters, padding='same', empty data)
# InvalidArgumentError in run: Exception encountered when calling layer 'layer' (type Conv3D).
# {{function_node __wrapped__BiasAdd_device_/job:localhost/replica:0/task:0/device:CPU:0}} Must ...
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.zeros((1, 1, 1, 0, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 0, 1))
layer = keras.layers.Conv3D(filters=2, padding="same", kernel_size=1)
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
