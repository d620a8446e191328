# Softmax applies a time mask to features
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
x = keras.Input((2, 1))
h = keras.layers.Masking()(x)
h = keras.layers.Dense(2, kernel_initializer="zeros")(h)
model = keras.Model(x, keras.layers.Softmax()(h))
data = np.array([[[1], [1]], [[1], [0]]], "float32")  # only the last step of the second sample is masked
# The logits of every step are 0, so that every step that is not masked gives 0.5 for both features.
expected = np.full((3, 2), 0.5)
seen = keras.ops.convert_to_numpy(model(data)).reshape(4, 2)[:3]
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
sys.exit(0 if np.allclose(seen, expected) else 1)
