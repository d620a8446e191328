# ops.cumsum gives another dtype: runtime onnx2torch (int32)
# expected int32[1]; received int64[1]
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
# Cut down to what matters of the 2 operators that a converter makes of it.
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
data = np.array([0], "int32")
graph = helper.make_graph(
    [helper.make_node("CumSum", ["x", "c1"], ["y"])], "graph",
    [helper.make_tensor_value_info("x", TensorProto.INT32, [1])],
    [helper.make_tensor_value_info("y", TensorProto.INT32, [1])],
    [helper.make_tensor("c1", TensorProto.INT64, [], [0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
module = onnx2torch.convert(proto).eval()
# From ONNX Runtime, which has the whole layer right.
expected = [("int32", (1,))]
outputs = [module(torch.from_numpy(data))]
seen = [(str(output.dtype).removeprefix("torch."), tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
