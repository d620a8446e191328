# ELU loses the digits of small results: Keras, tensorflow backend
# 1 of 1 elements differ, the first at [0, 0]: expected -1.15136553e-29 within 2.81e-33; received 0
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
data = np.array([[-1.1513655e-29]], "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.ELU()(x)
model = keras.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX, keras-tf > tf2onnx >
# onnx's ReferenceEvaluator and 10 more agree.
expected = np.array([[-1.15136553e-29]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.6e-04, atol=0)
sys.exit(0 if right else 1)
