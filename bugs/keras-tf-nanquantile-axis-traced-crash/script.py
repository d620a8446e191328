# ops.nanpercentile raises an exception: converter tf2onnx (axis)
# TypeError in tf2onnx: Exception encountered when calling Nanpercentile.call(). Dimension value
# must be integer or None or have an __index__ method, got value '<tf.Tensor ...
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
x = keras.Input(batch_shape=(1,))
y = keras.ops.nanpercentile(x, axis=0, keepdims=False, q=50.0, method="linear")
model = keras.Model(x, y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(model, [tf.TensorSpec((1,), "float32", name="x")], opset=15)
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
