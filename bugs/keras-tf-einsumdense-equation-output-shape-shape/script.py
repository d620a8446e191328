# EinsumDense gives another shape: Keras, tensorflow backend (equation, output_shape, rank 4, empty
# data)
# expected float32[1, 5, 1]; received float32[2, 5, 1]
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
data = np.zeros((1, 5, 2, 0), "float32")
x = keras.Input(batch_shape=(1, 5, 2, 0))
layer = keras.layers.EinsumDense(equation="abcd,ced->abe", output_shape=(5, 1))
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((2, 1, 0))])
expected = [("float32", (1, 5, 1))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
