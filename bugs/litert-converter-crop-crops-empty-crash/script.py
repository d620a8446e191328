# crop raises an exception: converter of LiteRT (crops, empty data)
# ValueError in run: Invalid tensor size.
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
y = keras.ops.slice(x, [0, 0, 0, 0], (1, 0, 0, 0))
model = keras.Model(x, y)
content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
runner = interpreter.get_signature_runner()
print("expected: no exception")
try:
    name = next(iter(runner.get_input_details()))
    seen = next(iter(runner(**{name: data}).values()))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
