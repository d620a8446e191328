# ReversibleEmbedding > Normalization raises an exception: converter tf2onnx (reverse=True,
# output_dim, mean, variance, invert=True)
# ValidationError in tf2onnx: Mismatched attribute type in 'functional_1/n162_1/MatMul_Gemm__450 :
# alpha'. Expected: 'FLOAT', actual: 'FLOATS' ==> Context: Bad node spec for node. Name: ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import onnx
    import tensorflow as tf
    import tf2onnx
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__)
x = keras.Input(batch_shape=(1, 2))
layer = keras.layers.ReversibleEmbedding(input_dim=1, output_dim=2)
h1 = layer(x, reverse=True)
y = keras.layers.Normalization(mean=-0.5, variance=3.0, invert=True)(h1)
model = keras.Model(x, y)
layer.set_weights([np.zeros((1, 2))])
print("expected: no exception")
try:
    proto, _ = tf2onnx.convert.from_keras(model, [tf.TensorSpec((1, 2), "float32", name="x")], opset=15)
    onnx.checker.check_model(proto, full_check=True)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
