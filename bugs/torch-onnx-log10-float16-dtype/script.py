# ops.log10 gives another dtype: converter torch.onnx (float16)
# expected float16[1]; received float32[1]
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
data = np.zeros((1,), "float16")
x = keras.Input(batch_shape=(1,), dtype="float16")
y = keras.ops.log10(x)
model = keras.Model(x, y)
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
expected = [("float16", (1,))]
outputs = [session.run(None, {"x": data})[0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
