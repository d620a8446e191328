# Resizing > BatchNormalization gives wrong values: Keras, export (rank 4)
# 1 of 1 elements differ, the first at [0, 0, 0, 0]: expected 31.6227766 within 3.18e-05; received 0
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
data = np.ones((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
h1 = keras.layers.Resizing(height=1, width=1)(x)
layer = keras.layers.BatchNormalization()
y = layer(h1)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1,)),  # gamma
    np.zeros((1,)),  # beta
    np.zeros((1,)),  # moving_mean
    np.zeros((1,)),  # moving_variance
])
folder = tempfile.mkdtemp()
model.export(folder, format="tf_saved_model", verbose=False)
loaded = tf.saved_model.load(folder)
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = loaded.serve(data).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.6e-05 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=1.6e-05, equal_nan=True
)
sys.exit(0 if right else 1)
