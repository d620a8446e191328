# STFTSpectrogram gives another dtype: Keras, torch backend (padding='same', float64)
# expected float64[1, 1, 2]; received float32[1, 1, 2]
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
data = np.zeros((1, 1, 1), "float64")
x = keras.Input(batch_shape=(1, 1, 1), dtype="float64")
layer = keras.layers.STFTSpectrogram(frame_length=2, padding="same", dtype="float64")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
expected = [("float64", (1, 1, 2))]
outputs = [model(data)]
seen = [(keras.backend.standardize_dtype(output.dtype), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
