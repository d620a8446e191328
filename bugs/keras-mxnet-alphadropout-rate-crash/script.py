# AlphaDropout raises an exception: front end keras-mxnet (rate)
# ValueError in build: You created Module with Module(..., data_names=['/x01']) but input with name
# '/x01' is not found in symbol.list_arguments(). Did you mean one of: layer_13/identityinit1
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
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "mxnet", mxnet.__version__)
print("expected: no exception")
try:
    x = keras.layers.Input(batch_shape=(1, 1))
    y = keras.layers.AlphaDropout(rate=1.0)(x)
    model = keras.models.Model(x, y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
