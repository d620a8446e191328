# ops.unravel_index gives wrong values: Keras, tensorflow backend (shape, rank 2)
# 1 of 1 elements differ
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
data = np.array([[4]], "int32")
x = keras.Input(batch_shape=(1, 1), dtype="int32")
y, h1 = keras.ops.unravel_index(x, shape=(4, 2))
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[2]], "int32")
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# The values must be exactly these.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=0, atol=0)
sys.exit(0 if right else 1)
