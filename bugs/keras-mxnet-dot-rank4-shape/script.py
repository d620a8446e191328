# Dot gives another shape: front end keras-mxnet (rank 4)
# expected float32[1, 1, 1, 1, 1]; received float32[1, 1, 1, 1]
import os
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "mxnet"
os.environ["KERAS_HOME"] = tempfile.mkdtemp()
try:
    import collections.abc

    for name in collections.abc.__all__:  # where this old Keras looks for them
        setattr(collections, name, getattr(collections.abc, name))
    import keras
    import mxnet
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "mxnet", mxnet.__version__)
data = np.zeros((1, 1, 1, 1), "float32")
x = keras.layers.Input(batch_shape=(1, 1, 1, 1))
y = keras.layers.Dot(axes=-1)([x, x])
model = keras.models.Model(x, y)
expected = [("float32", (1, 1, 1, 1, 1))]
outputs = [model.predict_on_batch(data)]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
