# Conv2D reads uninitialised memory: Keras, tensorflow backend (padding='same', kernel_size,
# strides)
# 2 of 4 elements depend on uninitialised memory: [0, 1, 0, 0] is 3.0730443758239744e+16 or
# -12657.4423828125, as that memory happens to be
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import subprocess
import sys

# glibc fills memory with a byte if it is told to, so that what nobody has written shows.
# Other C libraries do not: there this script shows nothing.
if "child" not in sys.argv:
    answers = []
    for byte in ("165", "58", "165"):
        filled = {"MALLOC_PERTURB_": byte, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
        child = subprocess.run(
            [sys.executable, __file__, "child"],
            env={**os.environ, **filled},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if child.returncode == 2:
            print(child.stdout)
            sys.exit(2)
        versions, _, answer = child.stdout.strip().rpartition(chr(10))
        answers.append(answer if child.returncode == 0 else f"exit code {child.returncode}")
    first, other, again = answers
    print(versions)
    print("expected: the same whatever memory held before:", first[:500])
    print("seen:    ", other[:500])
    sys.exit(1 if first == again != other else 0)

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, flush=True)
data = np.zeros((2, 2, 1, 1), "float32")
x = keras.Input(batch_shape=(2, 2, 1, 1))
layer = keras.layers.Conv2D(filters=1, padding="same", kernel_size=(1, 2), strides=(1, 2))
y = layer(x)
model = keras.Model(x, y)
layer.set_weights([
    np.ones((1, 2, 1, 1)),  # kernel
    np.zeros((1,)),  # bias
])
outputs = [keras.ops.convert_to_numpy(model(data))]
print([output.tolist() for output in outputs])
