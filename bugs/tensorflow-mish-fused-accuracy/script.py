# Activation loses the digits of small results: runtime TensorFlow (activation='mish')
# 1 of 3 elements differ, the first at [0, 2]: expected -2.93842491e-05 within 7.17e-09; received
# -2.94446272e-05
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.array([[1.0, 5.0, -13.0]], "float32")
x = keras.Input(batch_shape=(1, 3))
y = keras.layers.Activation(activation="mish")(x)
model = keras.Model(x, y)
function = tf.function(lambda given: model(given))
traced = function.get_concrete_function(tf.TensorSpec((1, 3), "float32"))
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = traced(tf.constant(data, "float32")).numpy().astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.6e-04 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.6e-04, atol=0, equal_nan=True
)
sys.exit(0 if right else 1)
