# Conv2DTranspose gives NaN or Inf in the wrong places: converter of LiteRT (filters,
# activation='hard_sigmoid', use_bias=False)
# 1 of 2 elements differ, the first at [0, 0, 0, 1]: expected 0.5 within 2.92e-07; received nan
import os
import sys
from importlib.metadata import version

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
    from ai_edge_litert.interpreter import Interpreter
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("ai-edge-litert", version("ai-edge-litert"))
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
layer = keras.layers.Conv2DTranspose(
    filters=2, kernel_size=1, activation="hard_sigmoid", use_bias=False
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 1, 2, 1))])
content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
runner = interpreter.get_signature_runner()
name = next(iter(runner.get_input_details()))
expected = keras.ops.convert_to_numpy(model(data)).astype("float64")  # the model itself
seen = next(iter(runner(**{name: data}).values())).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 1.8e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=1.8e-07, equal_nan=True
)
sys.exit(0 if right else 1)
