# ConvLSTM3D gives wrong values: Keras, tensorflow backend (strides, padding='same', float64)
# 1 of 1 elements differ, the first at [0, 0, 0, 0, 0]: expected -0.0629378038 within 2.5e-16;
# received -0.0492724603
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
data = np.array([[[[[[-0.8], [-1.1], [0.0]]]]]], "float64")
x = keras.Input(batch_shape=(1, 1, 1, 1, 3, 1), dtype="float64")
layer = keras.layers.ConvLSTM3D(
    filters=1, kernel_size=1, strides=(1, 1, 3), padding="same", dtype="float64"
)
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 1, 1, 1, 4)),  # kernel
    np.zeros((1, 1, 1, 1, 4)),  # recurrent_kernel
    np.zeros((4,)),  # bias
])
# From the documented meaning in float64; Keras 3 on PyTorch, keras-tf as a tf.function with
# jit_compile, keras-tf > tf2onnx > onnx's ReferenceEvaluator agree.
expected = np.array([[[[[-0.062937803751100724]]]]])
seen = keras.ops.convert_to_numpy(model(data)).astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.3e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=2.3e-16)
sys.exit(0 if right else 1)
