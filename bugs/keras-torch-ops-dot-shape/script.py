# ops.dot gives another shape: Keras, torch backend (rank 2)
# expected float32[2, 1, 1]; received float32[1, 2, 1]
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "torch", torch.__version__)
data0 = np.zeros((2, 1), "float32")
data1 = np.zeros((1, 1, 1), "float32")
x0 = keras.Input(batch_shape=(2, 1))
x1 = keras.Input(batch_shape=(1, 1, 1))
y = keras.ops.dot(x0, x1)
model = keras.Model([x0, x1], y)
expected = [("float32", (2, 1, 1))]
outputs = [model([data0, data1])]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
