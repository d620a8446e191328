# Add > ActivityRegularization gives wrong values: front end keras-mxnet
# 1 of 1 elements differ, the first at [0, 0]: expected 2 within 1.08e-06; received 0
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
data = np.ones((1, 1), "float32")
x = keras.layers.Input(batch_shape=(1, 1))
y1 = keras.layers.Add()([x, x])
y0 = keras.layers.ActivityRegularization()(y1)
model = keras.models.Model(x, [y0, y1])
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, tf-keras (Keras
# 2) on TensorFlow and 13 more agree.
expected = [
    np.array([[2.0]]),
    np.array([[2.0]]),
]
seen = [y.astype("float64") for y in model.predict_on_batch(data)]
print("expected:", [a.tolist() for a in expected])
print("seen:    ", [a.tolist() for a in seen])
# Rounding explains a difference of at most atol + 2.4e-07 * |expected|.
atol = [1.3e-06, 1.3e-06]
right = all(
    s.shape == e.shape and np.allclose(s, e, rtol=2.4e-07, atol=a, equal_nan=True)
    for s, e, a in zip(seen, expected, atol, strict=True)
)
sys.exit(0 if right else 1)
