# ops.fold gives another shape: Keras, jax backend (kernel_size, dilation, padding, stride,
# output_size)
# expected float32[1, 1, 1, 8]; received float32[1, 1, 1, 7]
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
try:
    import jax
    import keras
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "jax", jax.__version__)
data = np.zeros((1, 2, 6), "float32")
x = keras.Input(batch_shape=(1, 2, 6))
y = keras.ops.fold(
    x, kernel_size=(1, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 2), output_size=(1, 8)
)
model = keras.Model(x, y)
expected = [("float32", (1, 1, 1, 8))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
