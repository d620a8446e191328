# Conv2DTranspose raises an exception: converter tf2onnx (filters, padding='same', kernel_size,
# output_padding, empty data)
# ValidationError in tf2onnx: Node(functional_1/n46_1/BiasAdd) with schema(::ConvTranspose:11) has
# input size 4 not in range [min=2, max=3]. ==> Context: Bad node spec for node. Name: ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import onnx
    import tensorflow as tf
    import tf2onnx
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__)
x = keras.Input(batch_shape=(1, 1, 1, 1))
layer = keras.layers.Conv2DTranspose(
    filters=2, padding="same", kernel_size=(1, 2), output_padding=(0, 0)
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 2, 2, 1)),  # kernel
    np.ones((2,)),  # bias
])
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1, 1, 1, 1), "float32", name="x")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
