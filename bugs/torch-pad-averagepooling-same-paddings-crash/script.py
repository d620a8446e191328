# pad > AveragePooling2D raises an exception: converter torch.onnx (paddings, pool_size,
# padding='same')
# SymbolicValueError in torch.onnx: Failed to export a node '%70 : Long(requires_grad=0, device=cpu)
# = onnx::Cast[to=7](%69), scope: /keras.src.models.functional.Functional::model #
import io
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import onnx
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__, end=" ")
print("onnx", onnx.__version__)
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
h1 = keras.ops.pad(x, ((0, 0), (0, 0), (0, 0), (0, 1)), constant_values=0.0)
y = keras.layers.AveragePooling2D(pool_size=3, padding="same")(h1)
model = keras.Model(x, y)
print("expected: no exception")
try:
    file = io.BytesIO()
    torch.onnx.export(
        model, (torch.from_numpy(data),), file, input_names=["x"], opset_version=18, dynamo=False
    )
    proto = onnx.load_from_string(file.getvalue())
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
