import tensorflow as tf
import tf2onnx

@tf.function(input_signature=[tf.TensorSpec((1, 1, 1, 1), name="x")])
def model(x):
    return tf.image.resize(x, (1, 2), method="nearest")

proto, _ = tf2onnx.convert.from_function(model, model.input_signature, opset=18)
(resize,) = (node for node in proto.graph.node if node.op_type == "Resize")
(mode,) = (each.s.decode() for each in resize.attribute if each.name == "coordinate_transformation_mode")
print("Actual:  ", mode)
print("Expected: a mode of Resize-18, such as half_pixel")
