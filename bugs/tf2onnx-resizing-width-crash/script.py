# Resizing raises an exception: converter tf2onnx (width)
# InferenceError in tf2onnx: [ShapeInferenceError] Inference error(s): (op_type:Reshape, node name:
# functional_1/n233_1/resize/ResizeBilinear): [ShapeInferenceError] Inferred shape and existing ...
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
x = keras.Input(batch_shape=(1, 1, 3, 1))
y = keras.layers.Resizing(height=1, width=5)(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1, 1, 3, 1), "float32", name="x")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
