# UpSampling2D gives wrong values: Keras, tensorflow backend (size, data_format='channels_first',
# interpolation='bicubic')
# 8 of 12 elements differ, the first at [0, 0, 0, 0]: expected -1.04210526 within 1.23e-06; received
# -1.04208243
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
data = np.array([[[[-1.0, -0.6]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 2))
y = keras.layers.UpSampling2D(size=(2, 3), data_format="channels_first", interpolation="bicubic")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on JAX, keras-tf > tf2onnx > ONNX Runtime,
# keras-tf > tf2onnx > ONNX Runtime without optimisations and 1 more agree.
expected = np.array([
    [[[-1.04210526, -1.0, -0.880000007, -0.720000017, -0.600000024, -0.557894763], [-1.04210526,
    -1.0, -0.880000007, -0.720000017, -0.600000024, -0.557894763]]]
])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 9.8e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=9.8e-07)
sys.exit(0 if right else 1)
