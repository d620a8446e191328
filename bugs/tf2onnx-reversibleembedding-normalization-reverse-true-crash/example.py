import onnx
import tensorflow as tf
import tf2onnx

@tf.function(input_signature=[tf.TensorSpec((1, 2), name="x")])
def model(x):
    return tf.matmul(x, tf.ones((2, 1))) * tf.constant([[2.0]]) + tf.constant([[1.0]])

proto, _ = tf2onnx.convert.from_function(model, model.input_signature, opset=15)
print("Expected: a valid file", flush=True)
onnx.checker.check_model(proto, full_check=True)
