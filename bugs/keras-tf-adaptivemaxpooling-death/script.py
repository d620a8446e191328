# AdaptiveMaxPooling1D kills the process: Keras, tensorflow backend
# signal in run SIGFPE
import os
import signal
import subprocess
import sys

if "child" not in sys.argv:
    # The process dies, so another one looks at how it ends.
    code = subprocess.run([sys.executable, __file__, "child"], check=False).returncode
    print("expected: exit code 0")
    print("seen:", signal.Signals(-code).name if code < 0 else f"exit code {code}")
    sys.exit(code if code in (0, 2) else 1)

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, flush=True)
data = np.zeros((1, 1, 1), "float32")
x = keras.Input(batch_shape=(1, 1, 1))
y = keras.layers.AdaptiveMaxPooling1D(output_size=1)(x)
model = keras.Model(x, y)
seen = keras.ops.convert_to_numpy(model(data))
print("done")
