# ops.einsum raises an exception: Keras, tensorflow backend (subscripts='h,...c,...h', 3 inputs)
# ValueError in tf2onnx: Exception encountered when calling Einsum.call(). Shape must be at most
# rank 0 but is rank 1 for einsum equation '...,...b->b' without ellipsis (...) in the output ...
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
x0 = keras.Input(batch_shape=(1,))
x1 = keras.Input(batch_shape=(1,))
x2 = keras.Input(batch_shape=(1, 1))
y = keras.ops.einsum("h,...c,...h", x0, x1, x2)
model = keras.Model([x0, x1, x2], y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1,), "float32", name="x0"), tf.TensorSpec((1,), "float32", name="x1"),
        tf.TensorSpec((1, 1), "float32", name="x2")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
