# ReLU gives NaN or Inf in the wrong places: front end keras-mxnet (max_value, negative_slope,
# float16, special data)
# 1 of 1 elements differ, the first at [0, 0]: expected 4.8 within 0.00962; received nan
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
keras.backend.set_floatx("float16")
data = np.array([[np.inf]], "float16")
x = keras.layers.Input(batch_shape=(1, 1), dtype="float16")
y = keras.layers.ReLU(max_value=4.8, negative_slope=0.1)(x)
model = keras.models.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, tf-keras (Keras
# 2) on TensorFlow and 12 more agree.
expected = np.array([[4.8]])
seen = model.predict_on_batch(data).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 + 2e-03 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2e-03, atol=2.6e-04)
sys.exit(0 if right else 1)
