# ops.top_k gives another dtype: Keras, numpy backend
# expected int32[1]; received int64[1]
import os
import sys

os.environ["KERAS_BACKEND"] = "numpy"
try:
    import keras
    import numpy as np
    import numpy
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "numpy", numpy.__version__)
data = np.zeros((1,), "float32")
x = keras.Input(batch_shape=(1,))
h1, y = keras.ops.top_k(x, k=1)
model = keras.Model(x, y)
expected = [("int32", (1,))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
