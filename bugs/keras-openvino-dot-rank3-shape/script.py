# ops.dot gives another shape: Keras, openvino backend (rank 3)
# expected float32[1, 1, 1, 1]; received float32[1, 1, 1]
import os
import sys

os.environ["KERAS_BACKEND"] = "openvino"
try:
    import keras
    import numpy as np
    import openvino
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "openvino", openvino.__version__)
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.ops.dot(x, x)
model = keras.Model(x, y)
expected = [("float32", (1, 1, 1, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
