# MultiHeadAttention raises an exception: converter onnx2pytorch (output_shape, attention_mask=True,
# 3 inputs)
# ValueError in onnx2pytorch: Unexpected number of parameters: 0
# Cut down to what matters of the 78 operators that a converter makes of it.
import sys
from importlib.metadata import version

try:
    import onnx
    import torch
    from onnx import TensorProto, helper
    try:
        import torchvision  # noqa: F401
    except RuntimeError:  # beside a CPU build of torch it lacks operators that nobody needs here
        for name in ("torchvision::nms", "torchvision::qnms"):
            torch.library.define(name, "(Tensor dets, Tensor scores, float threshold) -> Tensor")
    import onnx2pytorch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "torch", torch.__version__, end=" ")
print("onnx2pytorch", version("onnx2pytorch"))
graph = helper.make_graph(
    [helper.make_node("Gemm", ["x0", "x1"], ["y"])], "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("x1", TensorProto.FLOAT, [1, 1]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
print("expected: no exception")
try:
    module = onnx2pytorch.ConvertModel(proto).eval()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
