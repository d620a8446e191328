# Conv3D gives another shape: runtime TensorFlow (padding='same', strides, empty data)
# expected float32[1, 1, 0, 1, 1]; received float32[1, 2, 0, 1, 1]
import sys

try:
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
data = np.zeros((1, 2, 0, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 0, 1, 1))
layer = keras.layers.Conv3D(filters=1, padding="same", kernel_size=1, strides=(2, 1, 1))
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
expected = [("float32", (1, 1, 0, 1, 1))]
outputs = [model(data)]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
