# ops.image.gaussian_blur raises an exception: converter torch.export
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
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.ops.image.gaussian_blur(
    x, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format="channels_last"
)
model = keras.Model(x, y)
print("expected: no exception")
try:
    torch.set_grad_enabled(False)
    program = torch.export.export(model, (torch.from_numpy(data),))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
