# ops.median gives NaN or Inf in the wrong places: converter tf2onnx (float16)
# 1 of 1 elements differ, the first at []: expected 0 within 0.000244; received nan
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.zeros((1,), "float16")
x = keras.Input(batch_shape=(1,), dtype="float16")
y = keras.ops.median(x, axis=None, keepdims=False)
model = keras.Model(x, y)
proto, _ = tf2onnx.convert.from_keras(model, [tf.TensorSpec((1,), "float16", name="x")], opset=15)
onnx.checker.check_model(proto, full_check=True)
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = session.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2e-03, atol=2.6e-04, equal_nan=True
)
sys.exit(0 if right else 1)
