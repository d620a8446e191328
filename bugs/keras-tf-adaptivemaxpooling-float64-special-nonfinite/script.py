# AdaptiveMaxPooling2D gives NaN or Inf in the wrong places: Keras, tensorflow backend (float64,
# special data)
# 1 of 1 elements differ, the first at [0, 0, 0, 0]: expected nan within nan; received
# -1.79769313e+308
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
data = np.array([[[[np.nan]]]], "float64")
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float64")
y = keras.layers.AdaptiveMaxPooling2D(output_size=1, dtype="float64")(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-torch >
# torch.onnx > ONNX Runtime agree.
expected = np.array([[[[np.nan]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=4.7e-16, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
