# ops.diagonal raises an exception: runtime ONNX ReferenceEvaluator
# ValueError in run: Except for dimension -1, all dimensions of index and self should be the same
# size.
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
# Cut down to what matters of the 67 operators that a converter makes of it.
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
data0 = np.zeros((4,), "float32")
data1 = np.array([0], "int64")
graph = helper.make_graph(
    [helper.make_node("GatherElements", ["x0", "x1"], ["y"], axis=-1)], "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [4]),
        helper.make_tensor_value_info("x1", TensorProto.INT64, [1]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
print("expected: no exception")
try:
    seen = evaluator.run(None, {"x0": data0, "x1": data1})[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
