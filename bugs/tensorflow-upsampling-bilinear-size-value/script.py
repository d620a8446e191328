# UpSampling2D gives wrong values: runtime TensorFlow (size, interpolation='bilinear')
# 2 of 24 elements differ, the first at [0, 4, 0, 0]: expected -1 within 2.16e-06; received 0
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[[[0.0]], [[-1.0]], [[0.0]], [[-1.0]]]], "float32")
x = keras.Input(batch_shape=(1, 4, 1, 1))
y = keras.layers.UpSampling2D(size=(3, 2), interpolation="bilinear")(x)
model = keras.Model(x, y)
function = tf.function(lambda given: model(given), jit_compile=True)
traced = function.get_concrete_function(tf.TensorSpec((1, 4, 1, 1), "float32"))
expected = keras.ops.convert_to_numpy(model(data)).astype("float64")  # the model itself
seen = traced(tf.constant(data, "float32")).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2e-06 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=2e-06, equal_nan=True
)
sys.exit(0 if right else 1)
