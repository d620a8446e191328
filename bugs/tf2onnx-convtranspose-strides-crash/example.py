import onnx
import tensorflow as tf
import tf2onnx

@tf.function(input_signature=[tf.TensorSpec((1, 3, 3, 1), tf.float32)])
def upsample(x):
    return tf.nn.conv2d_transpose(x, tf.ones((1, 1, 1, 1)), (1, 6, 6, 1), strides=2)

print("Expected: a valid model")
model, _ = tf2onnx.convert.from_function(upsample, upsample.input_signature, opset=15)
onnx.checker.check_model(model, full_check=True)
print("Actual:   a valid model")
