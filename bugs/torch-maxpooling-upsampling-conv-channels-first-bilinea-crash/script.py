# MaxPooling2D > UpSampling2D > Conv2D raises an exception: converter torch.onnx
# (data_format='channels_first', interpolation='bilinear')
# Fail in run: [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Resize
# node. Name:'/model/Resize' Status Message: upsamplebase.h:553 ScalesValidation 'Linear' mode ...
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
data = np.zeros((1, 2, 2, 2), "float32")
x = keras.Input(batch_shape=(1, 2, 2, 2))
h1 = keras.layers.MaxPooling2D(pool_size=2)(x)
h2 = keras.layers.UpSampling2D(data_format="channels_first", interpolation="bilinear")(h1)
layer = keras.layers.Conv2D(filters=1, kernel_size=1)
y = layer(h2)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
file = io.BytesIO()
torch.onnx.export(
    model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
)
proto = onnx.load_from_string(file.getvalue())
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
print("expected: no exception")
try:
    seen = session.run(None, {"x": data})[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
