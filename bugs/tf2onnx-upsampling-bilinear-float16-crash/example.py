import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import onnx
import tensorflow as tf
import tf2onnx

layer = keras.layers.UpSampling2D(interpolation="bilinear", dtype="float16")
spec = [tf.TensorSpec((1, 1, 1, 1), "float16", name="x")]
proto, _ = tf2onnx.convert.from_function(tf.function(layer, input_signature=spec), spec, opset=15)
print("Expected: a valid file", flush=True)
onnx.checker.check_model(proto, full_check=True)
