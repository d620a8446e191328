# Solarization gives wrong values: Keras, export
# 1 of 1 elements differ, the first at [0, 0, 0, 0]: expected 0 within 4.7e-38; received 255
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
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Solarization()(x)
model = keras.Model(x, y)
folder = tempfile.mkdtemp()
model.export(folder, format="tf_saved_model", verbose=False)
loaded = tf.saved_model.load(folder)
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = loaded.serve(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
