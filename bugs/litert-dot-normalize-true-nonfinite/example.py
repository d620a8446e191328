import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

x = tf.zeros((1, 2))
normalize = tf.function(keras.ops.normalize).get_concrete_function(tf.TensorSpec((1, 2)))
content = tf.lite.TFLiteConverter.from_concrete_functions([normalize]).convert()
interpreter = Interpreter(model_content=content)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
print("Actual:  ", interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist())
print("Expected:", keras.ops.normalize(x).numpy().tolist())
