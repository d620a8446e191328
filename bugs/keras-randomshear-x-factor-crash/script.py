# RandomShear raises an exception: Keras, save (x_factor)
# TypeError in load: <class 'keras.src.models.functional.Functional'> could not be deserialized
# properly. Please ensure that components that are Python object instances (layers, models, ...
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
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.RandomShear(x_factor=1.0)(x)
model = keras.Model(x, y)
path = os.path.join(tempfile.mkdtemp(), "model.keras")
model.save(path)
print("expected: no exception")
try:
    loaded = keras.saving.load_model(path, compile=False)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
