# UpSampling2D gives wrong values: Keras, torch backend (data_format='channels_first',
# interpolation='bicubic')
# 8 of 8 elements differ, the first at [0, 0, 0, 0]: expected -1.03529412 within 1.21e-06; received
# -1.04218745
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
data = np.array([[[[-1.0, -0.6]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 1, 2))
y = keras.layers.UpSampling2D(data_format="channels_first", interpolation="bicubic")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, tf-keras (Keras 2)
# on TensorFlow and 6 more agree.
expected = np.array([
    [[[-1.03529412, -0.917142862, -0.682857162, -0.564705908], [-1.03529412, -0.917142862,
    -0.682857162, -0.564705908]]]
])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 9.7e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=9.7e-07)
sys.exit(0 if right else 1)
