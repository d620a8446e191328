# CenterCrop gives another dtype: Keras, tensorflow backend (height, float64)
# expected float64[1, 2, 1, 1]; received float32[1, 2, 1, 1]
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
data = np.zeros((1, 1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1, 1), dtype="float64")
y = keras.layers.CenterCrop(height=2, width=1, dtype="float64")(x)
model = keras.Model(x, y)
expected = [("float64", (1, 2, 1, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
