# ops.scatter raises an exception: converter torch.onnx (shape)
# InvalidGraph in load: [ONNXRuntimeError] : 10 : INVALID_GRAPH : This is an invalid model. Type
# Error: Type 'tensor(int32)' of input parameter (/model/Concat_output_0) of operator ...
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
data0 = np.array([[0, 0]], "int32")
data1 = np.zeros((1,), "float32")
x0 = keras.Input(batch_shape=(1, 2), dtype="int32")
x1 = keras.Input(batch_shape=(1,))
y = keras.ops.scatter(x0, x1, shape=(5, 5))
model = keras.Model([x0, x1], y)
class Flat(torch.nn.Module):
    def forward(self, *given):
        return model(list(given))
flat = Flat()
flat.model = model  # so that its weights are parameters
file = io.BytesIO()
torch.onnx.export(
    flat, (torch.from_numpy(data0), torch.from_numpy(data1),), file, input_names=["x0", "x1"],
    opset_version=18, dynamo=False
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
