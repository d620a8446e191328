# Add gives wrong values: Keras, tensorflow backend
# 2 of 4 elements differ, the first at [0, 1]: expected 0 within 6.42e-07; received -1
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
data0 = np.zeros((2, 2), "float32")
data1 = np.array([[0.0], [-1.0]], "float32")
x0 = keras.Input(batch_shape=(2, 2))
x1 = keras.Input(batch_shape=(2, 1))
y = keras.layers.Add()([x0, x1])
model = keras.Model([x0, x1], y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, tf-keras (Keras 2) on
# TensorFlow and 3 more agree.
expected = np.array([[0.0, 0.0], [-1.0, -1.0]])
seen = keras.ops.convert_to_numpy(model([data0, data1])).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.7e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.7e-07)
sys.exit(0 if right else 1)
