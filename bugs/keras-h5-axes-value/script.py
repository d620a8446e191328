# LayerNormalization raises an exception: Keras, save (axis, scale=False, rank 4)
# ValueError in load: Shape mismatch in layer #0 (named layer)for weight layer/beta. Weight expects
# shape (1,). Received saved weight with shape (1, 1, 1)
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1, 1, 1, 1))
layer = keras.layers.LayerNormalization(axis=(1, 2, 3), scale=False)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 1, 1))])
path = os.path.join(tempfile.mkdtemp(), "model.h5")
model.save(path)
print("expected: no exception")
try:
    loaded = keras.models.load_model(path, compile=False)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
