# ops.rearrange raises an exception: Keras, jax backend (pattern='(a b) -> b a', axes_lengths)
# TypeError in run: Exception encountered when calling Rearrange.call(). Shapes must be 1D sequences
# of concrete values of integer type, got (JitTracer(int64[]), 1). If using `jit`, try using ...
# Seen on x86-64-v3 (AMD EPYC).
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
try:
    import jax
    import keras
    import numpy as np
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "jax", jax.__version__)
data = np.zeros((1,), "float32")
x = keras.Input(batch_shape=(1,))
y = keras.ops.rearrange(x, pattern="(a b) -> b a", b=1)
model = keras.Model(x, y)
print("expected: no exception")
try:
    compiled = jax.jit(
        lambda given: model.stateless_call(model.trainable_variables, model.non_trainable_variables,
        given)[0]
    )
    seen = keras.ops.convert_to_numpy(compiled(data))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
