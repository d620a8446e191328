# Flatten > UpSampling2D gives wrong values: runtime OpenVINO (data_format='channels_first', rank 4,
# interpolation='bilinear')
# 16 of 16 elements differ, the first at [0, 0, 0, 0]: expected 1 within 1.3e-06; received
# -4.82436313e-10
# Cut down to what matters of the 4 operators that a converter makes of it.
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
data = np.ones((1, 2, 2, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Transpose", ["x"], ["h1"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["h1", "c1"], ["y0"]),
        helper.make_node("Transpose", ["h1"], ["h2"], perm=[0, 3, 1, 2]),
        helper.make_node("Resize", ["h2", "", "c2"], ["y1"]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 2, 1])],
    [
        helper.make_tensor_value_info("y0", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("y1", TensorProto.FLOAT, [1, 2, 4, 2]),
    ],
    [
        helper.make_tensor("c1", TensorProto.INT64, [2], [1, 4]),
        helper.make_tensor("c2", TensorProto.FLOAT, [4], [1.0, 1.0, 2.0, 2.0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
compiled = core.compile_model(network, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
# From ONNX Runtime, which computes the whole layer as it is documented.
expected = [
    np.ones((1, 4)),
    np.ones((1, 2, 4, 2)),
]
seen = [y.astype("float64") for y in compiled({"x": data}).values()]
print("expected:", [a.tolist() for a in expected])
print("seen:    ", [a.tolist() for a in seen])
# Rounding explains a difference of at most atol + 2.4e-07 * |expected|.
atol = [6.2e-05, 6.2e-05]
right = all(
    s.shape == e.shape and np.allclose(s, e, rtol=2.4e-07, atol=a, equal_nan=True)
    for s, e, a in zip(seen, expected, atol, strict=True)
)
sys.exit(0 if right else 1)
