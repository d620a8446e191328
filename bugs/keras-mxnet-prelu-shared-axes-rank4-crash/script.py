# PReLU raises an exception: all libraries against the reference (shared_axes, rank 4)
# ValueError in build: Layer weight shape (1, 1, 1) not compatible with provided weight shape (2, 1,
# 1)
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
print("expected: no exception")
try:
    x = keras.layers.Input(batch_shape=(1, 2, 1, 1))
    layer = keras.layers.PReLU(shared_axes=(-2,))
    y = layer(x)
    model = keras.models.Model(x, y)
    layer.set_weights([np.zeros((2, 1, 1))])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
