# MaxPooling1D gives wrong values: front end keras-mxnet (padding='same')
# 2 of 2 elements differ, the first at [0, 0, 0]: expected 1 within 5.76e-07; received 0
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
data = np.array([[[0.0], [1.0], [0.0]]], "float32")
x = keras.layers.Input(batch_shape=(1, 3, 1))
y = keras.layers.MaxPooling1D(pool_size=2, padding="same")(x)
model = keras.models.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 13 more agree.
expected = np.array([[[1.0], [0.0]]])
seen = model.predict_on_batch(data).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 3.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=3.4e-07)
sys.exit(0 if right else 1)
