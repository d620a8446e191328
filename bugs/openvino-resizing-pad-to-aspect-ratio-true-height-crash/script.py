# Resizing raises an exception: runtime OpenVINO (height, pad_to_aspect_ratio=True)
# Blamed: runtime OpenVINO.
# RuntimeError in load: Exception from src/inference/src/cpp/core.cpp:105: Check 'false' failed at
# src/frontends/common_translators/src/unconverted_ops_report.cpp:151: FrontEnd API failed with ...
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
    [
        helper.make_node("Expand", ["c9", "c12"], ["h1"]),
        helper.make_node("Mul", ["h1", "c11"], ["h2"]),
        helper.make_node("Expand", ["c8", "c13"], ["h3"]),
        helper.make_node("Mul", ["h3", "c10"], ["h4"]),
        helper.make_node("Concat", ["h2", "x", "h4"], ["h5"], axis=1),
    ],
    "body1",
    [
    ],
    [helper.make_tensor_value_info("h5", TensorProto.FLOAT, [1, None, 1, 1])],
    [
        helper.make_tensor("c8", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c9", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c10", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("c11", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("c12", TensorProto.INT64, [4], [1] * 4),
        helper.make_tensor("c13", TensorProto.INT64, [4], [1] * 4),
    ],
)
body2 = helper.make_graph(
    [
        helper.make_node("Identity", ["x"], ["h6"]),
    ],
    "body2",
    [
    ],
    [helper.make_tensor_value_info("h6", TensorProto.FLOAT, [1, None, 1, 1])],
)
body3 = helper.make_graph(
    [
        helper.make_node("Expand", ["c14", "c18"], ["h8"]),
        helper.make_node("Mul", ["h8", "c16"], ["h9"]),
        helper.make_node("Expand", ["c15", "c19"], ["h10"]),
        helper.make_node("Mul", ["h10", "c17"], ["h11"]),
        helper.make_node("Concat", ["h11", "h7", "h9"], ["h12"], axis=2),
    ],
    "body3",
    [
    ],
    [helper.make_tensor_value_info("h12", TensorProto.FLOAT, [1, None, None, 1])],
    [
        helper.make_tensor("c14", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c15", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c16", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("c17", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("c18", TensorProto.INT64, [4], [1, 1, 0, 1]),
        helper.make_tensor("c19", TensorProto.INT64, [4], [1, 1, 0, 1]),
    ],
)
body4 = helper.make_graph(
    [
        helper.make_node("Identity", ["h7"], ["h13"]),
    ],
    "body4",
    [
    ],
    [helper.make_tensor_value_info("h13", TensorProto.FLOAT, [1, None, None, 1])],
)
graph = helper.make_graph(
    [
        helper.make_node("If", ["c3"], ["h7"], then_branch=body1, else_branch=body2),
        helper.make_node("If", ["c2"], ["h14"], then_branch=body3, else_branch=body4),
        helper.make_node("Unsqueeze", ["h14", "c4"], ["h15"]),
        helper.make_node("Reshape", ["h15", "c7"], ["h16"]),
        helper.make_node("Shape", ["h16"], ["h17"]),
        helper.make_node("Slice", ["h17", "c4", "c5"], ["h18"]),
        helper.make_node("Concat", ["h18", "c6"], ["h19"], axis=0),
        helper.make_node(
            "Resize", ["h16", "c1", "c1", "h19"], ["h20"], coordinate_transformation_mode="half_pixel",
            exclude_outside=0, mode="linear", nearest_mode="floor"
        ),
        helper.make_node("Transpose", ["h20"], ["y"], perm=[0, 2, 3, 1]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 1, 1])],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [0], []),
        helper.make_tensor("c2", TensorProto.BOOL, [], [False]),
        helper.make_tensor("c3", TensorProto.BOOL, [], [True]),
        helper.make_tensor("c4", TensorProto.INT64, [1], [0]),
        helper.make_tensor("c5", TensorProto.INT64, [1], [2]),
        helper.make_tensor("c6", TensorProto.INT64, [2], [3, 1]),
        helper.make_tensor("c7", TensorProto.INT64, [4], [1, 1, 0, 0]),
    ],
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
