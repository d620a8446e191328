# ops.depth_to_space gives wrong values: Keras, torch backend (data_format='channels_first')
# 9 of 12 elements differ, the first at [0, 0, 0, 1]: expected -1 within 8.88e-07; received 1
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
data = np.array(
    [[[[-2.0]], [[1.0]], [[0.0]], [[-1.0]], [[-1.0]], [[0.0]], [[1.0]], [[0.0]], [[1.0]], [[-1.0]],
    [[-1.0]], [[0.0]]]], "float32"
)
x = keras.Input(batch_shape=(1, 12, 1, 1))
y = keras.ops.depth_to_space(x, block_size=2, data_format="channels_first")
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow agrees.
expected = np.array([
    [[[-2.0, -1.0], [1.0, -1.0]], [[1.0, -1.0], [0.0, -1.0]], [[0.0, 0.0], [1.0, 0.0]]]
])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.5e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.5e-07)
sys.exit(0 if right else 1)
