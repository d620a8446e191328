# Masking > Concatenate raises an exception: front end tf-keras (axis, rank 3, 3 inputs)
# ValueError in build: Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1] and
# [2]. for '{{node concat}} = ConcatV2[N=3, T=DT_BOOL, Tidx=DT_INT32](ones_like, ExpandDims, ...
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
    x0 = keras.Input(batch_shape=(1, 1, 2))
    h1 = keras.layers.Masking()(x0)
    x1 = keras.Input(batch_shape=(1, 1, 2))
    x2 = keras.Input(batch_shape=(1, 1, 2))
    y = keras.layers.Concatenate(axis=-2)([x1, h1, x2])
    model = keras.Model([x0, x1, x2], y)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
