# Resizing raises an exception: runtime TensorFlow (height, pad_to_aspect_ratio=True)
# InvalidArgumentError in run: Cannot concatenate arrays that differ in dimensions other than the
# one being concatenated. Dimension 1 in both shapes must be equal (or compatible): f32[1,1,0,1] ...
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
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Resizing(height=3, width=1, pad_to_aspect_ratio=True)(x)
model = keras.Model(x, y)
function = tf.function(lambda given: model(given), jit_compile=True)
traced = function.get_concrete_function(tf.TensorSpec((1, 1, 1, 1), "float32"))
print("expected: no exception")
try:
    seen = traced(tf.constant(data, "float32")).numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
