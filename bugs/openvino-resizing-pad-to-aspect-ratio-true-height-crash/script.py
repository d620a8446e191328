# Resizing raises an exception: runtime OpenVINO (height, pad_to_aspect_ratio=True)
# RuntimeError in load: Exception from src/inference/src/cpp/core.cpp:105: Check 'false' failed at
# src/frontends/common_translators/src/unconverted_ops_report.cpp:151: FrontEnd API failed with ...
# Cut down to what matters of the 21 operators that a converter makes of it.
import sys

try:
    import onnx
    import openvino
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "openvino", openvino.__version__)
body1 = helper.make_graph(
    [helper.make_node("Identity", ["x"], ["h1"])], "body1", [],
    [helper.make_tensor_value_info("h1", TensorProto.FLOAT, [1, None, 1, 1])],
)
body2 = helper.make_graph(
    [], "body2", [], [helper.make_tensor_value_info("c2", TensorProto.FLOAT, [1, None, 1, 1])],
    [helper.make_tensor("c2", TensorProto.FLOAT, [1, 3, 1, 1], [0.0] * 3)],
)
body3 = helper.make_graph(
    [helper.make_node("Concat", ["x", "h2", "x"], ["h3"], axis=2)], "body3", [],
    [helper.make_tensor_value_info("h3", TensorProto.FLOAT, [1, None, None, 1])],
)
body4 = helper.make_graph(
    [helper.make_node("Identity", ["h2"], ["h4"])], "body4", [],
    [helper.make_tensor_value_info("h4", TensorProto.FLOAT, [1, None, None, 1])],
)
graph = helper.make_graph(
    [
        helper.make_node("If", ["c1"], ["h2"], else_branch=body1, then_branch=body2),
        helper.make_node("If", ["c1"], ["y"], else_branch=body3, then_branch=body4),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 1, 1])],
    [helper.make_tensor("c1", TensorProto.BOOL, [], [True])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
print("expected: no exception")
try:
    core = openvino.Core()
    network = core.read_model(proto.SerializeToString())
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
