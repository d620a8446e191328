# ReLU gives wrong values: runtime mxnet (max_value, float64)
# 1 of 4 elements differ, the first at [1, 1]: expected 1.8 within 1.24e-15; received 1.79999995
import os
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "mxnet"
os.environ["KERAS_HOME"] = tempfile.mkdtemp()
try:
    import collections.abc

    for name in collections.abc.__all__:  # where this old Keras looks for them
        setattr(collections, name, getattr(collections.abc, name))
    import keras
    import mxnet
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "mxnet", mxnet.__version__)
keras.backend.set_floatx("float64")
data = np.array([[-1.0, 1.0], [-1.0, 2.0]], "float64")
x = keras.layers.Input(batch_shape=(2, 2), dtype="float64")
y = keras.layers.ReLU(max_value=1.8)(x)
model = keras.models.Model(x, y)
# From the documented meaning in float64; Keras 3 on PyTorch, Keras 3 on JAX agree.
expected = np.array([[-0.0, 1.0], [-0.0, 1.8]])
seen = model.predict_on_batch(data).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=4.7e-16)
sys.exit(0 if right else 1)
