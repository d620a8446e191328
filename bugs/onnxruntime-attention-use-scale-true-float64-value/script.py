# Attention gives wrong values: runtime ONNX Runtime (use_scale=True, float64)
# Blamed: runtime ONNX Runtime.
# 1 of 2 elements differ, the first at [0, 0, 0]: expected 0.738850006 within 1.22e-15; received
# 0.738849999
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
data = np.array([[[1.0], [0.0]]], "float64")
graph = helper.make_graph(
    [
        helper.make_node("Reshape", ["x", "c1"], ["h1"]),
        helper.make_node("MatMul", ["x", "h1"], ["h2"]),
        helper.make_node("Mul", ["h2", "c2"], ["h3"]),
        helper.make_node("Softmax", ["h3"], ["h4"]),
        helper.make_node("MatMul", ["h4", "x"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 2, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 2, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [3], [1, 1, 2]),
        helper.make_tensor("c2", TensorProto.DOUBLE, [], [1.04]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
session = onnxruntime.InferenceSession(
    proto.SerializeToString(), providers=["CPUExecutionProvider"]
)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on PyTorch, Keras 3 on JAX
# and 10 more agree.
expected = np.array([[[0.73885000608424889], [0.5]]])
seen = session.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(
    seen, expected, rtol=4.7e-16, atol=8.9e-16, equal_nan=True
)
sys.exit(0 if right else 1)
