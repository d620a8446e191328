# Dense raises an exception: converter tf2onnx (bfloat16)
# InferenceError in tf2onnx: [ShapeInferenceError] (op_type:MatMul, node name:
# functional_1/layer_1/MatMul): B has inconsistent type tensor(bfloat16)
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
x = keras.Input(batch_shape=(1, 1), dtype="bfloat16")
layer = keras.layers.Dense(units=1, dtype="bfloat16")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(
        model, [tf.TensorSpec((1, 1), "bfloat16", name="x")], opset=15
    )
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
