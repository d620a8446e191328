# LSTM kills the process: converter torch.onnx (use_bias=False, float16)
# signal in load SIGSEGV
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
data = np.zeros((1, 1, 1), "float16")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float16")
layer = keras.layers.LSTM(units=1, use_bias=False, recurrent_initializer="Zeros", dtype="float16")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.zeros((1, 4)),  # kernel
    np.array([[1.0, -1.0, 0.0, 1.0]]),  # recurrent_kernel
])
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
seen = session.run(None, {"x": data})[0]
print("done")
