# CategoryEncoding raises an exception: converter tf2onnx (num_tokens, output_mode='one_hot',
# dtype='float16')
# ValidationError in tf2onnx: Node(functional_1/layer_1/one_hot) with schema(::OneHot:11) has input
# size 4 not in range [min=3, max=3]. ==> Context: Bad node spec for node. Name: ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import onnx
    import tensorflow as tf
    import tf2onnx
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__)
x = keras.Input(batch_shape=(1, 2), dtype="int32")
y = keras.layers.CategoryEncoding(num_tokens=5, output_mode="one_hot", dtype="float16")(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(model, [tf.TensorSpec((1, 2), "int32", name="x")], opset=15)
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
