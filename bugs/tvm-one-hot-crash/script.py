# CategoryEncoding raises an exception: runtime TVM (num_tokens, output_mode='one_hot')
# TypeError in import: Mismatched type on argument #3 when calling: `relax.op.one_hot(0: ir.Expr, 1:
# ir.Expr, 2: ir.Expr, 3: int, 4: int) -> ir.Expr`. Expected `int` but got `ffi.Array`
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
    [
        helper.make_node("Cast", ["x"], ["h1"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["h1", "c1"], ["h2"]),
        helper.make_node("Cast", ["h2"], ["h3"], to=TensorProto.INT64),
        helper.make_node("OneHot", ["h3", "c2", "c3"], ["y"], axis=-1),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.INT32, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 9])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [1], [1]),
        helper.make_tensor("c2", TensorProto.INT32, [1], [9]),
        helper.make_tensor("c3", TensorProto.FLOAT, [2], [0.0, 1.0]),
    ],
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
