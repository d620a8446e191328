# Dense raises an exception: front end keras-mxnet (units, kernel_initializer='Ones',
# bias_initializer='glorot_normal', float64)
# AssertionError in build: Redefinition of variable layer_32/kernel1
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
print("expected: no exception")
try:
    x = keras.layers.Input(batch_shape=(1, 1), dtype="float64")
    layer = keras.layers.Dense(units=2, kernel_initializer="Ones", bias_initializer="glorot_normal")
    y = layer(x)
    model = keras.models.Model(x, y)
    layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
