# ops.image.affine_transform raises an exception: Keras, torch backend (rank 4)
# RuntimeError in run: Exception encountered when calling AffineTransform.call(). shape '[2, 3, 3]'
# is invalid for input of size 9 Arguments received by AffineTransform.call(): • ...
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
data = np.zeros((2, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(2, 1, 1, 1))
y = keras.ops.image.affine_transform(
    x, transform=np.array((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), dtype="float32"),
    interpolation="bilinear", fill_mode="constant", fill_value=0.0, data_format="channels_last"
)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
