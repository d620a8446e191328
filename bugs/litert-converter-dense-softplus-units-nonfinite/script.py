# Dense gives NaN or Inf in the wrong places: converter of LiteRT (units, activation='softplus')
# 1 of 2 elements differ, the first at [0, 1]: expected 100 within 7.47e-05; received inf
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
data = np.array([[100.0]], "float32")
x = keras.Input(batch_shape=(1, 1))
layer = keras.layers.Dense(units=2, activation="softplus")
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([[0.0, 1.0]]),  # kernel
    np.zeros((2,)),  # bias
])
content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
runner = interpreter.get_signature_runner()
name = next(iter(runner.get_input_details()))
expected = keras.ops.convert_to_numpy(
    model(data, training=False)
).astype("float64")  # the model itself
seen = next(iter(runner(**{name: data}).values())).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 5.1e-05 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=5.1e-05, equal_nan=True
)
sys.exit(0 if right else 1)
