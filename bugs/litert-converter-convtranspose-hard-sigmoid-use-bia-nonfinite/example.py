import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

@tf.function(input_signature=[tf.TensorSpec((1, 1, 1, 1))])
def model(x):
    return tf.nn.relu6(tf.nn.conv2d_transpose(x, tf.ones((1, 1, 2, 1)), (1, 1, 1, 2), strides=1) + 3) / 6

content = tf.lite.TFLiteConverter.from_concrete_functions([model.get_concrete_function()]).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], tf.zeros((1, 1, 1, 1)))
interpreter.invoke()
print("Actual:  ", interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).ravel().tolist())
print("Expected:", model(tf.zeros((1, 1, 1, 1))).numpy().ravel().tolist())
