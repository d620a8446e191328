# MultiHeadAttention hangs: converter tf2onnx (num_heads, output_shape, use_bias=False,
# use_gate=True, dropout, ... 4 more ..., rank 5)
# timeout in tf2onnx after 25.0 s
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import subprocess
import sys
from importlib.metadata import version

if "child" not in sys.argv:
    # It does not come to an end, so it gets 120 s as a process of its own.
    try:
        code = subprocess.run([sys.executable, __file__, "child"], check=False, timeout=120).returncode
    except subprocess.TimeoutExpired:
        print("expected: an end within 120 s")
        print("seen: still running after 120 s")
        sys.exit(1)
    print("seen: exit code", code)
    sys.exit(2 if code == 2 else 0)

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import onnx
    import tensorflow as tf
    import tf2onnx
    import torch
    try:
        import torchvision  # noqa: F401
    except RuntimeError:  # beside a CPU build of torch it lacks operators that nobody needs here
        for name in ("torchvision::nms", "torchvision::qnms"):
            torch.library.define(name, "(Tensor dets, Tensor scores, float threshold) -> Tensor")
    import onnx2torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "keras", keras.__version__, "tensorflow", tf.__version__, end=" ")
print("tf2onnx", tf2onnx.__version__, "onnx", onnx.__version__, end=" ")
print("torch", torch.__version__, "onnx2torch", version("onnx2torch"), flush=True)
data = np.array(
    [-0.5272055, -1.3208088, 0.23858069, 1.3510711, 1.1699289, 1.7600954, 0.8714903, 1.397357,
    0.15982522, -0.026611708, 0.15782006, -1.5567291, 0.42217922, 0.5763262, 1.8374686, 0.14139757,
    -1.5345019, -1.1655059, 0.18153794, 1.3830768, -1.3931655, -0.8331517, 0.025505325, 0.7505594,
    -2.6034675, 0.32379326, -0.15543446, 1.2672988, 0.74109054, -0.98089755, 0.4505714, 0.21727875,
    -0.5160886, 0.6843034, -0.6328188, 0.3229342, 1.583588, -0.76046157, -0.27932963, -0.17292397,
    0.65666807, -1.0604689, -0.9279497, -0.21648677, -0.37353545, -0.27869776, -0.78511804,
    1.6438197, 0.7928784, 2.426775, -1.1235831, -0.10806714, 2.1551778, 0.7004634, -0.56356895,
    -0.70376515, -0.7906844, -2.056297, -0.26870203, 1.1650354, -0.015184745, 0.5701765, 1.0163587,
    -0.1859625, 0.7852528, -0.9061423, -0.8748966, -0.4505882, 0.08405698, 2.0191114, 0.5400468,
    -0.47042108], "float32"
).reshape(2, 6, 1, 2, 3)
x = keras.Input(batch_shape=(2, 6, 1, 2, 3))
layer = keras.layers.MultiHeadAttention(
    num_heads=2, key_dim=1, output_shape=(4,), use_bias=False, use_gate=True, dropout=0.459,
    bias_initializer="glorot_uniform", bias_regularizer="l2", bias_constraint="MinMaxNorm",
    activity_regularizer="L1L2"
)
y = layer(x, x)
model = keras.Model(x, y)
layer.set_weights([
    np.array([
        [[-0.14785248], [-0.13751648]], [[0.8108718], [0.39038408]], [[0.15965968], [0.50346184]]
    ]),  # kernel_query
    np.array([
        [[-0.30043402], [-0.13681437]], [[-0.29199374], [-0.02438351]], [[0.1518588], [0.048222937]]
    ]),  # kernel_key
    np.array([
        [[-0.6352731], [-0.22876883]], [[-0.3290043], [0.10171626]], [[-0.22751448], [0.27951366]]
    ]),  # kernel_gate
    np.array([
        [[-0.030001018], [0.34914815]], [[0.38424787], [0.040466703]], [[0.39702162], [-0.44406602]]
    ]),  # kernel_value
    np.array([
        [[0.08399727, 1.0516399, 0.31669348, -0.14871518]], [[0.039977014, -1.3720884, 0.34795445,
        -0.28692517]]
    ]),  # kernel_output
])
proto, _ = tf2onnx.convert.from_keras(
    model, [tf.TensorSpec((2, 6, 1, 2, 3), "float32", name="x")], opset=15
)
onnx.checker.check_model(proto, full_check=True)
module = onnx2torch.convert(proto).eval()
seen = module(torch.from_numpy(data)).detach().numpy()
print("done")
