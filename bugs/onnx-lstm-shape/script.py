# LSTM gives another shape: runtime ONNX ReferenceEvaluator
# Blamed: runtime ONNX ReferenceEvaluator.
# expected float32[1, 1]; received float32[1]
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
data = np.zeros((1, 1, 1), "float32")
body1 = helper.make_graph(
    [
        helper.make_node("MatMul", ["i4", "i7"], ["h4"]),
        helper.make_node("Squeeze", ["h4"], ["h5"]),
        helper.make_node("Add", ["i3", "c12"], ["h6"]),
        helper.make_node("Gather", ["h1", "i3"], ["h7"]),
        helper.make_node("Gemm", ["h7", "i6", "h5"], ["h8"], transA=0, transB=0),
        helper.make_node("Add", ["h8", "i8"], ["h9"]),
        helper.make_node("Split", ["h9"], ["h10", "h11", "h12", "h13"], axis=1),
        helper.make_node("Tanh", ["h12"], ["h14"]),
        helper.make_node("Sigmoid", ["h13"], ["h15"]),
        helper.make_node("Sigmoid", ["h11"], ["h16"]),
        helper.make_node("Mul", ["h16", "i5"], ["h17"]),
        helper.make_node("Sigmoid", ["h10"], ["h18"]),
        helper.make_node("Mul", ["h18", "h14"], ["h19"]),
        helper.make_node("Add", ["h17", "h19"], ["h20"]),
        helper.make_node("Tanh", ["h20"], ["h21"]),
        helper.make_node("Mul", ["h15", "h21"], ["h22"]),
        helper.make_node("Identity", ["h22"], ["h23"]),
        helper.make_node("Cast", ["h6"], ["h24"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["i1"], ["h25"], to=TensorProto.FLOAT),
        helper.make_node("Less", ["h25", "c13"], ["h26"]),
        helper.make_node("Less", ["h24", "c14"], ["h27"]),
        helper.make_node("And", ["h26", "h27"], ["h28"]),
    ],
    "body1",
    [
        helper.make_tensor_value_info("i1", TensorProto.INT64, []),
        helper.make_tensor_value_info("i2", TensorProto.BOOL, []),
        helper.make_tensor_value_info("i3", TensorProto.INT32, []),
        helper.make_tensor_value_info("i4", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("i5", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("i6", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("i7", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("i8", TensorProto.FLOAT, [4]),
    ],
    [
        helper.make_tensor_value_info("h28", TensorProto.BOOL, []),
        helper.make_tensor_value_info("h6", TensorProto.INT32, []),
        helper.make_tensor_value_info("h22", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("h20", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("i6", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("i7", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("i8", TensorProto.FLOAT, [4]),
        helper.make_tensor_value_info("h23", TensorProto.FLOAT, [1, 1]),
    ],
    [
        helper.make_tensor("c12", TensorProto.INT32, [], [1]),
        helper.make_tensor("c13", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c14", TensorProto.FLOAT, [], [1.0]),
    ],
)
graph = helper.make_graph(
    [
        helper.make_node("Reshape", ["x", "c1"], ["h1"]),
        helper.make_node("Less", ["c8", "c9"], ["h2"]),
        helper.make_node("And", ["h2", "h2"], ["h3"]),
        helper.make_node(
            "Loop", ["c6", "h3", "c3", "c2", "c2", "c4", "c4", "c5"], ["h29", "h30", "h31", "h32",
            "h33", "h34", "h35"], body=body1
        ),
        helper.make_node("Slice", ["h35", "c7", "c10", "c11"], ["h36"]),
        helper.make_node("Squeeze", ["h36", "c11"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [3], [1] * 3),
        helper.make_tensor("c2", TensorProto.FLOAT, [1, 1], [0.0]),
        helper.make_tensor("c3", TensorProto.INT32, [], [0]),
        helper.make_tensor("c4", TensorProto.FLOAT, [1, 4], [0.0] * 4),
        helper.make_tensor("c5", TensorProto.FLOAT, [4], [0.0] * 4),
        helper.make_tensor("c6", TensorProto.INT64, [], [1]),
        helper.make_tensor("c7", TensorProto.INT64, [1], [-1]),
        helper.make_tensor("c8", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("c9", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("c10", TensorProto.INT64, [1], [2147483647]),
        helper.make_tensor("c11", TensorProto.INT64, [1], [0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
expected = [("float32", (1, 1))]
outputs = [evaluator.run(None, {"x": data})[0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
