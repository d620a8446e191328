# ops.psnr gives another shape: Keras on every backend (all libraries against the reference)
# (bfloat16)
# ops.psnr: expected [('bfloat16', ())]; received [('float32', ())]
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import tensorflow as tf
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__)
x = keras.Input(batch_shape=(1,), dtype="bfloat16")
y = keras.ops.psnr(x, x, max_val=1.0)
expected = [("bfloat16", ())]
seen = [(y.dtype, tuple(y.shape))]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
