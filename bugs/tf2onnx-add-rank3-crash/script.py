# Add raises an exception: converter tf2onnx (rank 3)
# InferenceError in tf2onnx: [ShapeInferenceError] Inference error(s): (op_type:Add, node name:
# functional_1/n225_1/BiasAdd): [ShapeInferenceError] Inferred shape and existing shape differ ...
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
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.layers.Add()([x, x])
model = keras.Model(x, y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1, 2, 1), "float32", name="x")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
