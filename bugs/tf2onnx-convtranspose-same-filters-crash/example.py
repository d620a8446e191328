import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import onnx
import tensorflow as tf
import tf2onnx

layer = keras.layers.Conv2DTranspose(2, (1, 2), padding="same", output_padding=0, bias_initializer="ones")
spec = [tf.TensorSpec((1, 1, 1, 1), "float32", name="x")]
proto, _ = tf2onnx.convert.from_function(tf.function(layer, input_signature=spec), spec, opset=15)
print("Expected: a valid file", flush=True)
onnx.checker.check_model(proto, full_check=True)
