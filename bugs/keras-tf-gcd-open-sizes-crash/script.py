# ops.gcd raises an exception: Keras, export (rank 2)
# ValueError in export: Exception encountered when calling Gcd.call(). Tried to convert 'shape' to a
# tensor and failed. Error: Cannot convert a partially known TensorShape (None, 1) to a Tensor. ...
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
x = keras.Input(batch_shape=(1, 1), dtype="int32")
y = keras.ops.gcd(x, x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    folder = tempfile.mkdtemp()
    model.export(folder, format="tf_saved_model", verbose=False)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
