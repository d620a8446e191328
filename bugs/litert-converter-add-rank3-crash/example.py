import tensorflow as tf

@tf.function(input_signature=[tf.TensorSpec((1, 2, 3)), tf.TensorSpec((2,))])
def add(x, bias):
    return tf.nn.bias_add(x, bias, data_format="NCW")

tf.saved_model.save(tf.Module(), "saved", signatures=add.get_concrete_function())
print("Expected: a model", flush=True)
print("Actual:  ", len(tf.lite.TFLiteConverter.from_saved_model("saved").convert()), "bytes")
