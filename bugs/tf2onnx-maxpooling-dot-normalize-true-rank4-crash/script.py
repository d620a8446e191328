# MaxPooling2D > Dot raises an exception: converter tf2onnx (normalize=True, rank 4)
# Fail in run: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Reshape
# node. Name:'functional_1/n32_1/Reshape_2' Status Message: ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import onnx
    import onnxruntime
    import tensorflow as tf
    import tf2onnx
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__, end=" ")
print("onnxruntime", onnxruntime.__version__)
data = np.zeros((1, 2, 2, 2), "float32")
x = keras.Input(batch_shape=(1, 2, 2, 2))
h1 = keras.layers.MaxPooling2D(pool_size=2)(x)
y = keras.layers.Dot(axes=-1, normalize=True)([h1, h1])
model = keras.Model(x, y)
proto, _ = tf2onnx.convert.from_keras(
    model, [tf.TensorSpec((1, 2, 2, 2), "float32", name="x")], opset=15
)
onnx.checker.check_model(proto, full_check=True)
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
print("expected: no exception")
try:
    seen = session.run(None, {"x": data})[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
