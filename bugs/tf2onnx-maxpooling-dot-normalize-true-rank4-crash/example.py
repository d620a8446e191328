import onnxruntime
import tensorflow as tf
import tf2onnx

@tf.function(input_signature=[tf.TensorSpec((1, 2, 2, 2), name="x")])
def model(x):
    return tf.math.l2_normalize(tf.nn.max_pool2d(x, 2, 2, "VALID"), axis=-1)

proto, _ = tf2onnx.convert.from_function(model, model.input_signature, opset=15)
session = onnxruntime.InferenceSession(proto.SerializeToString())
print("Expected:", model(tf.zeros((1, 2, 2, 2))).numpy().tolist(), flush=True)
print("Actual:  ", session.run(None, {"x": tf.zeros((1, 2, 2, 2)).numpy()})[0].tolist())
