# UnitNormalization of an all-zero row is NaN in float16 and mixed_float16
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
layer = keras.layers.UnitNormalization(dtype="mixed_float16")
expected = np.zeros((1, 2))  # as in float32
seen = keras.ops.convert_to_numpy(layer(np.zeros((1, 2), "float32"))).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
sys.exit(0 if np.array_equal(seen, expected) else 1)
