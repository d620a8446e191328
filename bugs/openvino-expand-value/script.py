# expand gives wrong values: runtime OpenVINO
# 1 of 1 elements differ, the first at [0, 0]: expected 0.8 within 7.99e-16; received 0.800000012
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
data = np.array([0.8], "float64")
graph = helper.make_graph(
    [helper.make_node("Unsqueeze", ["x", "c1"], ["y"])],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor("c1", TensorProto.INT64, [1], [0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
compiled = core.compile_model(network, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
# From the documented meaning in float64; keras-tf > tf2onnx > ONNX Runtime, Keras 3 on TensorFlow,
# Keras 3 on PyTorch and 12 more agree.
expected = np.array([[0.80000000000000004]])
seen = compiled({"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.7e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=4.7e-16)
sys.exit(0 if right else 1)
