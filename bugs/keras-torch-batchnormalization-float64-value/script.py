# BatchNormalization gives wrong values: Keras, torch backend (float64)
# 1 of 1 elements differ, the first at [0, 0]: expected -31.6227766 within 2.83e-14; received
# -31.6227741
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
data = np.zeros((1, 1), "float64")
x = keras.Input(batch_shape=(1, 1), dtype="float64")
layer = keras.layers.BatchNormalization(dtype="float64")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1,)),  # gamma
    np.zeros((1,)),  # beta
    np.ones((1,)),  # moving_mean
    np.zeros((1,)),  # moving_variance
])
# From the documented meaning in float64; Keras 3 on TensorFlow, tf-keras (Keras 2) on TensorFlow,
# keras-tf as a tf.function and 8 more agree.
expected = np.array([[-31.622776601683796]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.5e-14 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=1.5e-14)
sys.exit(0 if right else 1)
