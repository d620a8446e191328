# Activation raises an exception: runtime TVM (activation='selu', float64)
# TypeError in import: Binary operators must have the same datatype for both operands. However,
# R.subtract(R.const(1.0, "float32"), lv) uses datatype T.float32 on the LHS (Type of ...
import sys
from importlib.metadata import version

try:
    import onnx
    import tvm
    from onnx import TensorProto, helper
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "tvm", version("apache-tvm"))
graph = helper.make_graph(
    [helper.make_node("Selu", ["x"], ["y"])], "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
print("expected: no exception")
try:
    module = from_onnx(proto)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
