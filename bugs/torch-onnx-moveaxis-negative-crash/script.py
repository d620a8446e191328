# pad > ops.moveaxis raises an exception: converter torch.onnx (paddings, source, rank 2)
# Fail in load: [ONNXRuntimeError] : 1 : FAIL : Node (/model/Transpose_1) Op (Transpose)
# [TypeInferenceError] Invalid attribute perm {1, -2}, input shape = {0, 0}
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import io
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import onnx
    import onnxruntime
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__, end=" ")
print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
h1 = keras.ops.pad(x, ((0, 1), (0, 0)), constant_values=0.0)
y = keras.ops.moveaxis(h1, source=-2, destination=-1)
model = keras.Model(x, y)
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
print("expected: no exception")
try:
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
