# Masking > Masking > Add raises an exception: front end tf-keras (rank 3)
# ValueError in build: Dimension 1 in both shapes must be equal, but are 2 and 1. Shapes are [1,2]
# and [1,1]. for '{{node concat}} = ConcatV2[N=2, T=DT_BOOL, Tidx=DT_INT32](ExpandDims, ...
import sys

try:
    import tensorflow as tf
    import tf_keras as keras
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "tf-keras", keras.__version__, "tensorflow", tf.__version__)
print("expected: no exception")
try:
    x0 = keras.Input(batch_shape=(1, 2, 1))
    h1 = keras.layers.Masking()(x0)
    x1 = keras.Input(batch_shape=(1, 1, 1))
    h2 = keras.layers.Masking()(x1)
    y = keras.layers.Add()([h1, h2])
    model = keras.Model([x0, x1], y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
