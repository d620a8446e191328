import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

x = tf.constant([1.0, 100.0])
softplus = tf.function(tf.nn.softplus).get_concrete_function(tf.TensorSpec((2,)))
content = tf.lite.TFLiteConverter.from_concrete_functions([softplus]).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
print("Actual:  ", interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist())
print("Expected:", tf.nn.softplus(x).numpy().tolist())
