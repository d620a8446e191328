# GroupNormalization raises an exception: converter of LiteRT (groups, rank 6)
# RuntimeError in load: failed to delegate MEAN node #1failed to delegate MEAN node #5Node number 14
# (TfLiteXNNPackDelegate) failed to prepare.
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
x = keras.Input(batch_shape=(1, 1, 1, 1, 2, 1))
layer = keras.layers.GroupNormalization(groups=1)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1,)),  # gamma
    np.zeros((1,)),  # beta
])
content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
print("expected: no exception")
try:
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    runner = interpreter.get_signature_runner()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
