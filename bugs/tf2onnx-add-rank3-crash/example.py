import onnx
import tensorflow as tf
import tf2onnx

@tf.function(input_signature=[tf.TensorSpec((1, 2, 3), tf.float32), tf.TensorSpec((2,), tf.float32)])
def add(x, bias):
    return tf.nn.bias_add(x, bias, data_format="NCW")

print("Expected: a valid model")
model, _ = tf2onnx.convert.from_function(add, add.input_signature, opset=15)
onnx.checker.check_model(model, full_check=True)
print("Actual:   a valid model")
