# ops.exp2 raises an exception: runtime TensorFlow (float16)
# TypeError in trace: in user code:
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1,), dtype="float16")
y = keras.ops.exp2(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    function = tf.function(lambda given: model(given))
    traced = function.get_concrete_function(tf.TensorSpec((1,), "float16"))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
