# GlobalAveragePooling1D gives wrong values: Keras, torch backend (float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.2 within 3.11e-16; received 0.200000003
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
data = np.array([[[0.2]]], "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
y = keras.layers.GlobalAveragePooling1D(dtype="float64")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# keras-tf as a tf.function and 9 more agree.
expected = np.array([[0.20000000000000001]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.3e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=2.3e-16)
sys.exit(0 if right else 1)
