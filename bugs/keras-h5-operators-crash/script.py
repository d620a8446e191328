# ops.abs raises an exception: Keras, save
# ValueError in load: Unknown layer: 'Absolute'. Please ensure you are using a
# `keras.utils.custom_object_scope` and that this object is included in the scope. See ...
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1,))
y = keras.ops.abs(x)
model = keras.Model(x, y)
path = os.path.join(tempfile.mkdtemp(), "model.h5")
model.save(path)
print("expected: no exception")
try:
    loaded = keras.models.load_model(path, compile=False)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
