# ops.image.affine_transform gives wrong values: Keras, tensorflow backend (transform,
# fill_mode='wrap')
# 1 of 2 elements differ, the first at [0, 0, 0]: expected -0.939999998 within 9.92e-07; received
# -0.699999988
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
data = np.array([[[-1.0], [-0.7]]], "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.image.affine_transform(
    x, transform=np.array((1.0, 0.0, -0.2, 0.0, 1.0, 0.0, 0.0, 0.0), dtype="float32"),
    interpolation="bilinear", fill_mode="wrap", fill_value=0.0, data_format="channels_last"
)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[[-0.939999998], [-0.75999999]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 7.7e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=7.7e-07)
sys.exit(0 if right else 1)
