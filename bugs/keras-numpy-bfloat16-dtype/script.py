# ops.i0 gives another dtype: Keras, numpy backend (bfloat16)
# expected bfloat16[1]; received float64[1]
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
data = np.zeros((1,), "float32")  # the model casts it to bfloat16
x = keras.Input(batch_shape=(1,), dtype="bfloat16")
y = keras.ops.i0(x)
model = keras.Model(x, y)
expected = [("bfloat16", (1,))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
