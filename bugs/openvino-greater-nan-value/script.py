# ops.greater gives wrong values: runtime OpenVINO (special data)
# 1 of 1 elements differ
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import sys

try:
    import numpy as np
    import onnx
    import openvino
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "openvino", openvino.__version__)
data0 = np.zeros((1,), "float32")
data1 = np.array([np.nan], "float32")
graph = helper.make_graph(
    [helper.make_node("Greater", ["x0", "x1"], ["y"])], "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("x1", TensorProto.FLOAT, [1]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.BOOL, [1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
# From the documented meaning in float64; ONNX of ours > ONNX Runtime, Keras 3 on TensorFlow, Keras
# 3 on PyTorch and 20 more agree.
expected = np.array([False], "bool")
seen = compiled({"x0": data0, "x1": data1})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# The values must be exactly these.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=0, atol=0)
sys.exit(0 if right else 1)
