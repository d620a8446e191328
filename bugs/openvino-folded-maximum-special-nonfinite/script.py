# ops.max gives NaN or Inf in the wrong places: Keras, openvino backend (special data)
# 1 of 1 elements differ, the first at []: expected nan; received -3.40282347e+38
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import sys

os.environ["KERAS_BACKEND"] = "openvino"
try:
    import keras
    import numpy as np
    import openvino
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "openvino", openvino.__version__)
data = np.array([np.nan], "float32")
x = keras.Input(batch_shape=(1,))
y = keras.ops.max(x, axis=None, keepdims=False)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 21 more agree.
expected = np.array(np.nan)
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
