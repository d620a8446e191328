# Resizing gives wrong values: Keras, torch backend (width, interpolation='bicubic',
# data_format='channels_first')
# 2 of 3 elements differ, the first at [0, 0, 0, 0]: expected -1.06578947 within 7.87e-07; received
# -1.08680582
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
data = np.array([[[[-1.0, 0.0]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 2))
y = keras.layers.Resizing(
    height=1, width=3, interpolation="bicubic", data_format="channels_first"
)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on JAX, keras-tf > tf2onnx > ONNX Runtime,
# keras-tf > tf2onnx > ONNX Runtime without optimisations and 1 more agree.
expected = np.array([[[[-1.06578947, -0.5, 0.0657894737]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 5.6e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=5.6e-07)
sys.exit(0 if right else 1)
