# LSTM raises an exception: converter torch.onnx (recurrent_dropout, go_backwards=True)
# Fail in load: [ONNXRuntimeError] : 1 : FAIL : Node (/model/ReduceMax) Op (ReduceMax)
# [ShapeInferenceError] axis must be in [-rank, rank-1]. Input rank was 0
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
layer = keras.layers.LSTM(units=1, recurrent_dropout=0.5, go_backwards=True)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
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
