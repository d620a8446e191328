# EinsumDense contradicts itself: Keras (equation)
# as it is and quantised: TypeError in build: object of type 'int' has no len()
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.zeros((1, 1), "float32")
print("expected: no exception")
try:
    x = keras.Input(batch_shape=(1, 1))
    layer = keras.layers.EinsumDense(equation="...a,ac->...c", output_shape=(1,))
    y = layer(x)
    model = keras.Model(x, y)
    layer.set_weights([np.zeros((1, 1))])
    quantised = keras.models.clone_model(model)
    quantised.set_weights(model.get_weights())
    quantised.quantize("int8")
    seen = keras.ops.convert_to_numpy(quantised(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
