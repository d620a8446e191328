# CategoryEncoding raises an exception: Keras, tensorflow backend (dtype='float16')
# InvalidArgumentError in run: Exception encountered when calling CategoryEncoding.call(). Value for
# attr 'T' of half is not in the list of allowed values: int32, int64, float, double ; NodeDef: ...
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
data = np.array([[0]], "int32")
x = keras.Input(batch_shape=(1, 1), dtype="int32")
y = keras.layers.CategoryEncoding(num_tokens=1, dtype="float16")(x)
model = keras.Model(x, y)
print("expected: no exception")
try:
    seen = keras.ops.convert_to_numpy(model(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
