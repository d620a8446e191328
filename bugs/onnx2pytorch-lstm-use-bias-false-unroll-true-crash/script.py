# LSTM raises an exception: converter onnx2pytorch (use_bias=False, unroll=True)
# Blamed: converter onnx2pytorch.
# TypeError in run: Linear.forward() takes 2 positional arguments but 3 were given
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
    import onnx2pytorch
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print(
    "versions:", "onnx", onnx.__version__, "torch", torch.__version__, "onnx2pytorch",
    version("onnx2pytorch")
)
data = np.zeros((1, 2, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Reshape", ["x", "c1"], ["h1"]),
        helper.make_node("Split", ["h1"], ["h2", "h3"], axis=0),
        helper.make_node("Squeeze", ["h3", "c4"], ["h4"]),
        helper.make_node("Squeeze", ["h2", "c4"], ["h5"]),
        helper.make_node("MatMul", ["h5", "c3"], ["h6"]),
        helper.make_node("Split", ["h6"], ["h7", "h8", "h9", "h10"], axis=1),
        helper.make_node("Tanh", ["h9"], ["h11"]),
        helper.make_node("Sigmoid", ["h10"], ["h12"]),
        helper.make_node("Sigmoid", ["h8"], ["h13"]),
        helper.make_node("Mul", ["h13", "c2"], ["h14"]),
        helper.make_node("Sigmoid", ["h7"], ["h15"]),
        helper.make_node("Mul", ["h15", "h11"], ["h16"]),
        helper.make_node("Add", ["h14", "h16"], ["h17"]),
        helper.make_node("Tanh", ["h17"], ["h18"]),
        helper.make_node("Mul", ["h12", "h18"], ["h19"]),
        helper.make_node("MatMul", ["h19", "c3"], ["h20"]),
        helper.make_node("Squeeze", ["h20"], ["h21"]),
        helper.make_node("Gemm", ["h4", "c3", "h21"], ["h22"], transA=0, transB=0),
        helper.make_node("Split", ["h22"], ["h23", "h24", "h25", "h26"], axis=1),
        helper.make_node("Tanh", ["h25"], ["h27"]),
        helper.make_node("Sigmoid", ["h26"], ["h28"]),
        helper.make_node("Sigmoid", ["h24"], ["h29"]),
        helper.make_node("Mul", ["h29", "h17"], ["h30"]),
        helper.make_node("Sigmoid", ["h23"], ["h31"]),
        helper.make_node("Mul", ["h31", "h27"], ["h32"]),
        helper.make_node("Add", ["h30", "h32"], ["h33"]),
        helper.make_node("Tanh", ["h33"], ["h34"]),
        helper.make_node("Mul", ["h28", "h34"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [3], [2, 1, 1]),
        helper.make_tensor("c2", TensorProto.FLOAT, [1, 1], [0.0]),
        helper.make_tensor("c3", TensorProto.FLOAT, [1, 4], [0.0] * 4),
        helper.make_tensor("c4", TensorProto.INT64, [1], [0]),
    ],
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
