# ops.select gives another dtype: Keras, tensorflow backend (default)
# expected bfloat16[1]; received float64[1]
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
data0 = np.array([False], "bool")
data1 = np.zeros((1,), "float32")  # the model casts it to bfloat16
x0 = keras.Input(batch_shape=(1,), dtype="bool")
x1 = keras.Input(batch_shape=(1,), dtype="bfloat16")
y = keras.ops.select([x0], [x1], default=0.0)
model = keras.Model([x0, x1], y)
expected = [("bfloat16", (1,))]
outputs = [model([data0, data1])]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
