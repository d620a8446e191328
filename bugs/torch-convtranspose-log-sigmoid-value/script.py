# torch.onnx exports LogSigmoid as Log(Sigmoid(x)): -inf for -20
import sys

try:
    import numpy as np
    import onnxruntime
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "torch", torch.__version__, "onnxruntime", onnxruntime.__version__)
x = torch.tensor([-8.0, -15.0, -20.0])
program = torch.onnx.export(torch.nn.LogSigmoid(), (x,), dynamo=True, verbose=False)
content = program.model_proto.SerializeToString()
session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
expected = torch.nn.functional.logsigmoid(x.double()).numpy()  # the function itself, in float64
seen = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# PyTorch's default tolerances for float32.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=1.3e-06, atol=1e-05)
sys.exit(0 if right else 1)
