# Resizing gives wrong values: Keras, tensorflow backend (width, interpolation='bicubic')
# 2 of 3 elements differ, the first at [0, 0, 0, 0]: expected 2.19736842 within 2.17e-06; received
# 2.19766641
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[[[2.0], [-1.0]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 2, 1))
y = keras.layers.Resizing(height=1, width=3, interpolation="bicubic")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on JAX, keras-tf > tf2onnx > ONNX Runtime,
# keras-tf > tf2onnx > ONNX Runtime without optimisations and 1 more agree.
expected = np.array([[[[2.19736842], [0.5], [-1.19736842]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.7e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=1.7e-06)
sys.exit(0 if right else 1)
