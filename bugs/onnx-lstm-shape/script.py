# LSTM gives another shape: runtime ONNX ReferenceEvaluator
# expected float32[1, 1]; received float32[1]
# Cut down to what matters of the 28 operators that a converter makes of it.
import sys

try:
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__)
body1 = helper.make_graph(
    [], "body1",
    [
        helper.make_tensor_value_info("i1", TensorProto.INT64, []),
        helper.make_tensor_value_info("i2", TensorProto.BOOL, []),
    ],
    [
        helper.make_tensor_value_info("c2", TensorProto.BOOL, []),
        helper.make_tensor_value_info("c3", TensorProto.FLOAT, [1, 1]),
    ],
    [
        helper.make_tensor("c2", TensorProto.BOOL, [], [False]),
        helper.make_tensor("c3", TensorProto.FLOAT, [1, 1], [0.0]),
    ],
)
graph = helper.make_graph(
    [helper.make_node("Loop", ["", "c1"], ["y"], body=body1)], "graph", [],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor("c1", TensorProto.BOOL, [], [True])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
# From ONNX Runtime, which has the whole layer right.
expected = [("float32", (1, 1, 1))]
outputs = [evaluator.run(None, {})[0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
