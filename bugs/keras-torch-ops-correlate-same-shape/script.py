# ops.correlate gives another shape: Keras, torch backend (mode='same')
# expected float32[2]; received float32[]
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
data0 = np.zeros((1,), "float32")
data1 = np.zeros((2,), "float32")
x0 = keras.Input(batch_shape=(1,))
x1 = keras.Input(batch_shape=(2,))
y = keras.ops.correlate(x0, x1, mode="same")
model = keras.Model([x0, x1], y)
expected = [("float32", (2,))]
outputs = [model([data0, data1])]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
