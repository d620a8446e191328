# MaxPooling1D raises an exception: runtime ONNX ReferenceEvaluator (pool_size, strides,
# padding='same')
# Blamed: runtime ONNX ReferenceEvaluator.
# ValueError in run: zero-size array to reduction operation maximum which has no identity
import sys

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__)
data = np.zeros((1, 2, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Unsqueeze", ["x", "c3"], ["h1"]),
        helper.make_node("Reshape", ["h1", "c1"], ["h2"]),
        helper.make_node(
            "MaxPool", ["h2"], ["h3"], strides=[1, 1], kernel_shape=[1, 3], pads=[0, 1, 0, 1]
        ),
        helper.make_node("Squeeze", ["h3", "c4"], ["h4"]),
        helper.make_node("Reshape", ["h4", "c2"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [4], [1, 1, 1, 2]),
        helper.make_tensor("c2", TensorProto.INT64, [3], [1, 2, 1]),
        helper.make_tensor("c3", TensorProto.INT64, [1], [1]),
        helper.make_tensor("c4", TensorProto.INT64, [1], [2]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
print("expected: no exception")
try:
    seen = evaluator.run(None, {"x": data})[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
