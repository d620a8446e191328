# ops.unstack raises an exception: converter onnx2torch
# TypeError in run: squeeze() received an invalid combination of arguments - got (tuple,
# dim=Tensor), but expected one of: * (Tensor input) * (Tensor input, int dim) didn't match ...
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
    import onnx2torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "torch", torch.__version__, end=" ")
print("onnx2torch", version("onnx2torch"))
data = np.zeros((1,), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Split", ["x"], ["h1"], axis=0),
        helper.make_node("Squeeze", ["h1", "c1"], ["y"]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    [helper.make_tensor("c1", TensorProto.INT64, [1], [0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
module = onnx2torch.convert(proto).eval()
print("expected: no exception")
try:
    seen = module(torch.from_numpy(data)).detach().numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
