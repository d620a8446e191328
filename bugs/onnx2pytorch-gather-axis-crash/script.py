# ops.take raises an exception: runtime onnx2pytorch (axis, int32, rank 3)
# IndexError in run: index 1 is out of bounds for dimension 0 with size 1
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import sys
from importlib.metadata import version

try:
    import numpy as np
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
data = np.full((1, 9, 1), 1, "int32")
graph = helper.make_graph(
    [helper.make_node("Gather", ["x", "x"], ["y"], axis=-2)], "graph",
    [helper.make_tensor_value_info("x", TensorProto.INT32, [1, 9, 1])],
    [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1, 9, 1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
module = onnx2pytorch.ConvertModel(proto).eval()
print("expected: no exception")
try:
    seen = module(torch.from_numpy(data)).detach().numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
