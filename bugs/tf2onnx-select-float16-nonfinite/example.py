import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx

x = np.array([1.0, -1.0], "float16")
signature = [tf.TensorSpec((2,), tf.float16, "x")]
choose = tf.function(lambda x: tf.where(x > 0, x, tf.constant(np.nan, tf.float16)), signature)
model, _ = tf2onnx.convert.from_function(choose, signature, opset=15)
session = onnxruntime.InferenceSession(model.SerializeToString())
print("Actual:  ", session.run(None, {"x": x})[0])
print("Expected:", choose(x).numpy())
