# tf2onnx writes Resize with tf_half_pixel_for_nn, which ONNX removed at opset 13
import sys

try:
    import numpy as np
    import onnx
    import tensorflow as tf
    import tf2onnx
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf2onnx", tf2onnx.__version__, "tensorflow", tf.__version__, "onnx", onnx.__version__)


@tf.function(autograph=False, input_signature=[tf.TensorSpec((1, 1, 1, 1), name="x")])
def model(x):
    return tf.image.resize(x, (1, 2), method="nearest")


proto, _ = tf2onnx.convert.from_function(model, model.input_signature, opset=18)
print("expected: no exception")
try:
    ReferenceEvaluator(proto).run(None, {"x": np.zeros((1, 1, 1, 1), "float32")})
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
