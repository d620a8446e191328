# ops.einsum kills the process: converter torch.onnx (subscripts='h,...c,...h', 3 inputs)
# signal in torch.onnx SIGSEGV
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import io
import os
import signal
import subprocess
import sys

if "child" not in sys.argv:
    # The process dies, so another one looks at how it ends.
    code = subprocess.run([sys.executable, __file__, "child"], check=False).returncode
    print("expected: exit code 0")
    print("seen:", signal.Signals(-code).name if code < 0 else f"exit code {code}")
    sys.exit(code if code in (0, 2) else 1)

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
print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__, flush=True)
data0 = np.zeros((1,), "float32")
data1 = np.zeros((1,), "float32")
data2 = np.ones((1, 1), "float32")
x0 = keras.Input(batch_shape=(1,))
x1 = keras.Input(batch_shape=(1,))
x2 = keras.Input(batch_shape=(1, 1))
y = keras.ops.einsum("h,...c,...h", x0, x1, x2)
model = keras.Model([x0, x1, x2], y)
class Flat(torch.nn.Module):
    def forward(self, *given):
        return model(list(given))
flat = Flat()
flat.model = model  # so that its weights are parameters
file = io.BytesIO()
torch.onnx.export(
    flat, (torch.from_numpy(data0), torch.from_numpy(data1), torch.from_numpy(data2),), file,
    input_names=["x0", "x1", "x2"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
seen = session.run(None, {"x0": data0, "x1": data1, "x2": data2})[0]
print("done")
