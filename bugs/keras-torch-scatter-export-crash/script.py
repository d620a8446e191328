# ops.scatter raises an exception: converter torch.export (shape)
# GuardOnDataDependentSymNode in torch.export: The error above occurred when calling
# torch.export.export. If you would like to view some more information about this error, and get ...
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data0 = np.full((1, 4), 0, "int32")
data1 = np.zeros((1,), "float32")
x0 = keras.Input(batch_shape=(1, 4), dtype="int32")
x1 = keras.Input(batch_shape=(1,))
y = keras.ops.scatter(x0, x1, shape=(1, 1, 1, 1))
model = keras.Model([x0, x1], y)
print("expected: no exception")
try:
    torch.set_grad_enabled(False)
    class Flat(torch.nn.Module):
        def forward(self, *given):
            return model(list(given))
    flat = Flat()
    flat.model = model  # so that its weights are parameters
    program = torch.export.export(flat, (torch.from_numpy(data0), torch.from_numpy(data1),))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
