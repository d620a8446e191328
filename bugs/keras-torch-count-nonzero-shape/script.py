# ops.count_nonzero gives another shape: Keras, torch backend (axis, rank 3)
# expected int32[2, 1]; received int32[1, 2]
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
data = np.zeros((1, 2, 1), "float32")
x = keras.Input(batch_shape=(1, 2, 1))
y = keras.ops.count_nonzero(x, axis=0)
model = keras.Model(x, y)
expected = [("int32", (2, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
