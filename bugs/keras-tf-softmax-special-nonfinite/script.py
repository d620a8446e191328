# Softmax gives NaN or Inf in the wrong places: Keras, tensorflow backend (special data)
# Blamed: Keras, tensorflow backend.
# 1 of 2 elements differ, the first at [0, 1]: expected nan within nan; received 0
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
data = np.array([[np.nan, 5.0]], "float32")
x = keras.Input(batch_shape=(1, 2))
y = keras.layers.Softmax()(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf > tf2onnx >
# ONNX Runtime and 7 more agree.
expected = np.array([[np.nan, np.nan]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
