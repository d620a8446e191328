# Dot gives NaN or Inf in the wrong places: runtime mxnet (normalize=True)
# 1 of 1 elements differ, the first at [0, 0]: expected 0 within 4.7e-38; received nan
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
data = np.zeros((1, 1), "float32")
x = keras.layers.Input(batch_shape=(1, 1))
y = keras.layers.Dot(axes=-1, normalize=True)([x, x])
model = keras.models.Model(x, y)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, tf-keras (Keras
# 2) on TensorFlow and 12 more agree.
expected = np.zeros((1, 1))
seen = model.predict_on_batch(data).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.9e-38)
sys.exit(0 if right else 1)
