# AutoContrast gives wrong values: converter of LiteRT (special data)
# 3 of 4 elements differ, the first at [0, 0, 0, 0]: expected 0 within 4.23e-07; received 127.5
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.array([[[[0.0], [np.nan], [-1.0], [1.0]]]], "float32")
x = keras.Input(batch_shape=(1, 1, 4, 1))
y = keras.layers.AutoContrast()(x)
model = keras.Model(x, y)
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
# Rounding explains a difference of at most 4.4e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=2.4e-07, atol=4.4e-07, equal_nan=True
)
sys.exit(0 if right else 1)
