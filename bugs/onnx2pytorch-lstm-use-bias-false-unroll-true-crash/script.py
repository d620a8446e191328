# LSTM raises an exception: converter onnx2pytorch (use_bias=False, unroll=True)
# TypeError in run: Linear.forward() takes 2 positional arguments but 3 were given
# Cut down to what matters of the 28 operators that a converter makes of it.
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
data0 = np.zeros((1, 1), "float32")
data1 = np.zeros((4,), "float32")
graph = helper.make_graph(
    [helper.make_node("Gemm", ["x0", "c1", "x1"], ["y"])], "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, 1]),
        helper.make_tensor_value_info("x1", TensorProto.FLOAT, [4]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
    [helper.make_tensor("c1", TensorProto.FLOAT, [1, 4], [0.0] * 4)],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
module = onnx2pytorch.ConvertModel(proto).eval()
print("expected: no exception")
try:
    seen = module(torch.from_numpy(data0), torch.from_numpy(data1)).detach().numpy()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
