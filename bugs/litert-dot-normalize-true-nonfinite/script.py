# Dot gives NaN or Inf in the wrong places: runtime LiteRT (normalize=True)
# 1 of 1 elements differ, the first at [0, 0]: expected 0 within 4.7e-38; received nan
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
data = np.zeros((1, 1), "float32")
x = keras.Input(batch_shape=(1, 1))
y = keras.layers.Dot(axes=-1, normalize=True)([x, x])
model = keras.Model(x, y)
content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
runner = interpreter.get_signature_runner()
name = next(iter(runner.get_input_details()))
expected = keras.ops.convert_to_numpy(model(data)).astype("float64")  # the model itself
seen = next(iter(runner(**{name: data}).values())).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.9e-38 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.9e-38, equal_nan=True
)
sys.exit(0 if right else 1)
