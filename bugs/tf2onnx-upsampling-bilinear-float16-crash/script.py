# UpSampling2D raises an exception: converter tf2onnx (interpolation='bilinear', float16)
# InferenceError in tf2onnx: [ShapeInferenceError] (op_type:Min, node name:
# functional_1/layer_1/clip_by_value/Minimum): data_0 has inconsistent type tensor(float)
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
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float16")
y = keras.layers.UpSampling2D(interpolation="bilinear", dtype="float16")(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1, 1, 1, 1), "float16", name="x")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
