# LSTM raises an exception: converter onnx2torch (unroll=True)
# Blamed: converter onnx2torch.
# TypeError in run: squeeze() received an invalid combination of arguments - got (tuple,
# dim=Tensor), but expected one of: * (Tensor input) * (Tensor input, int dim) didn't match because
# some of the ...
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
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import onnx2torch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print(
    "versions:", "onnx", onnx.__version__, "torch", torch.__version__, "onnx2torch",
    version("onnx2torch")
)
data = np.zeros((1, 1, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Split", ["x"], ["h1"], axis=1),
        helper.make_node("Squeeze", ["h1", "c3"], ["h2"]),
        helper.make_node("MatMul", ["h2", "c2"], ["h3"]),
        helper.make_node("Split", ["h3"], ["h4", "h5", "h6", "h7"], axis=1),
        helper.make_node("Tanh", ["h6"], ["h8"]),
        helper.make_node("Sigmoid", ["h7"], ["h9"]),
        helper.make_node("Sigmoid", ["h5"], ["h10"]),
        helper.make_node("Mul", ["h10", "c1"], ["h11"]),
        helper.make_node("Sigmoid", ["h4"], ["h12"]),
        helper.make_node("Mul", ["h12", "h8"], ["h13"]),
        helper.make_node("Add", ["h11", "h13"], ["h14"]),
        helper.make_node("Tanh", ["h14"], ["h15"]),
        helper.make_node("Mul", ["h9", "h15"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [1, 1], [0.0]),
        helper.make_tensor("c2", TensorProto.FLOAT, [1, 4], [0.0] * 4),
        helper.make_tensor("c3", TensorProto.INT64, [1], [1]),
    ],
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
