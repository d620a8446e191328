# ops.image.affine_transform gives wrong values: converter torch.jit (transform)
# 1 of 2 elements differ, the first at [0, 0, 0]: expected 0 within 4.7e-38; received 1
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.ones((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.image.affine_transform(
    x, transform=np.array((1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0), dtype="float32"),
    interpolation="bilinear", fill_mode="constant", fill_value=0.0, data_format="channels_last"
)
model = keras.Model(x, y)
torch.set_grad_enabled(False)
module = torch.jit.freeze(
    torch.jit.trace(model.eval(), (torch.from_numpy(data),), check_trace=False)
)
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = keras.ops.convert_to_numpy(module(torch.from_numpy(data))).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
