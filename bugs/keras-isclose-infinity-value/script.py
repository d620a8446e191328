# ops.isclose gives wrong values: Keras, tensorflow backend (special data)
# 1 of 1 elements differ
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.array([np.inf], "float32")
x = keras.Input(batch_shape=(1,))
y = keras.ops.isclose(x, x, rtol=1e-05, atol=1e-08, equal_nan=False)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, ONNX of ours > ONNX
# Runtime and 8 more agree.
expected = np.array([True], "bool")
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# The values must be exactly these.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=0, atol=0)
sys.exit(0 if right else 1)
