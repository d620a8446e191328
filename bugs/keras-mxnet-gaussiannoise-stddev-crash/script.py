# GaussianNoise raises an exception: front end keras-mxnet (stddev)
# MXNetError in run: Traceback (most recent call last): File "../src/operator/random/./sample_op.h",
# line 399 MXNetError: Check failed: param.scale > 0 (0 vs. 0) : scale parameter in gaussian has ...
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
y = keras.layers.GaussianNoise(stddev=0.0)(x)
model = keras.models.Model(x, y)
print("expected: no exception")
try:
    seen = model.predict_on_batch(data)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
