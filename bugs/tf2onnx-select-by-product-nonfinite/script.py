# AutoContrast gives NaN or Inf in the wrong places: converter tf2onnx (float16)
# 1 of 1 elements differ, the first at [0, 0, 0, 0]: expected 0 within 0.000244; received nan
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import sys
from importlib.metadata import version

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import onnx
    import tensorflow as tf
    import tf2onnx
    import torch
    try:
        import torchvision  # noqa: F401
    except RuntimeError:  # beside a CPU build of torch it lacks operators that nobody needs here
        for name in ("torchvision::nms", "torchvision::qnms"):
            torch.library.define(name, "(Tensor dets, Tensor scores, float threshold) -> Tensor")
    import onnx2pytorch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__, end=" ")
print("torch", torch.__version__, "onnx2pytorch", version("onnx2pytorch"))
data = np.zeros((1, 1, 1, 1), "float16")
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float16")
y = keras.layers.AutoContrast(dtype="float16")(x)
model = keras.Model(x, y)
proto, _ = tf2onnx.convert.from_keras(
    model, [tf.TensorSpec((1, 1, 1, 1), "float16", name="x")], opset=15
)
onnx.checker.check_model(proto, full_check=True)
module = onnx2pytorch.ConvertModel(proto).eval()
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = module(torch.from_numpy(data)).detach().numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2e-03, atol=2.6e-04, equal_nan=True
)
sys.exit(0 if right else 1)
