# ReLU gives NaN or Inf in the wrong places: Keras on every backend (threshold, special data)
# Blamed: Keras on every backend.
# 1 of 1 elements differ, the first at [0, 0]: expected nan within nan; received 0
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
data = np.array([[np.nan]], "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.ReLU(threshold=1.0)(x)
model = keras.Model(x, y)
# From the documented meaning in float64; tf-keras (Keras 2) on TensorFlow, keras-tf > tf2onnx >
# ONNX Runtime, keras-tf > tf2onnx > ONNX Runtime without optimisations and 5 more agree.
expected = np.array([[np.nan]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
