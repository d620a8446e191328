# RMSNormalization applies its scale along the last axis whatever axis it normalises; here the sizes differ
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
print("expected: no exception")
try:
    keras.layers.RMSNormalization(axis=1)(np.ones((1, 2, 3), "float32"))
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
