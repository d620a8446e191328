import onnxruntime
import torch

x = torch.tensor([-8.0, -15.0, -20.0])
program = torch.onnx.export(torch.nn.LogSigmoid(), (x,), dynamo=True, verbose=False)
session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
name = session.get_inputs()[0].name
print("Actual:  ", session.run(None, {name: x.numpy()})[0].tolist())
print("Expected:", torch.nn.functional.logsigmoid(x).tolist())
