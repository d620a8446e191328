# MultiHeadAttention raises an exception: converter onnx2pytorch (output_shape, attention_mask=True,
# 3 inputs)
# Blamed: converter onnx2pytorch.
# ValueError in onnx2pytorch: Unexpected number of parameters: 0
import sys
from importlib.metadata import version

try:
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
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x0", "c3"], ["h1"]),
        helper.make_node("MatMul", ["x1", "c3"], ["h2"]),
        helper.make_node("Unsqueeze", ["x2", "c16"], ["h3"]),
        helper.make_node("And", ["c4", "h3"], ["h4"]),
        helper.make_node("Not", ["h4"], ["h5"]),
        helper.make_node("Cast", ["h5"], ["h6"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["c5", "h6"], ["h7"]),
        helper.make_node("Cast", ["h4"], ["h8"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["h1", "c17"], ["h9"]),
        helper.make_node("Reshape", ["h2", "c17"], ["h10"]),
        helper.make_node("Unsqueeze", ["h10", "c16"], ["h11"]),
        helper.make_node("Unsqueeze", ["h9", "c7"], ["h12"]),
        helper.make_node("Unsqueeze", ["h10", "c12"], ["h13"]),
        helper.make_node("Reshape", ["h12", "c2"], ["h14"]),
        helper.make_node("Reshape", ["h11", "c2"], ["h15"]),
        helper.make_node("Reshape", ["h13", "c2"], ["h16"]),
        helper.make_node("Shape", ["h15"], ["h17"]),
        helper.make_node("Shape", ["h14"], ["h18"]),
        helper.make_node("Shape", ["h16"], ["h19"]),
        helper.make_node("Shape", ["c15"], ["h20"]),
        helper.make_node("Gather", ["h17", "c7"], ["h21"]),
        helper.make_node("Gather", ["h18", "c12"], ["h22"]),
        helper.make_node("Gather", ["h17", "c6"], ["h23"]),
        helper.make_node("Gather", ["h18", "c6"], ["h24"]),
        helper.make_node("Gather", ["h17", "c11"], ["h25"]),
        helper.make_node("ReduceProd", ["h25"], ["h26"], keepdims=1),
        helper.make_node("Gather", ["h18", "c11"], ["h27"]),
        helper.make_node("ReduceProd", ["h27"], ["h28"], keepdims=1),
        helper.make_node("Max", ["h27", "h25"], ["h29"]),
        helper.make_node("Gather", ["h19", "c7"], ["h30"]),
        helper.make_node("Gather", ["h19", "c6"], ["h31"]),
        helper.make_node("Gather", ["h19", "c11"], ["h32"]),
        helper.make_node("ReduceProd", ["h32"], ["h33"], keepdims=1),
        helper.make_node("Gather", ["h20", "c9"], ["h34"]),
        helper.make_node("Gather", ["h20", "c8"], ["h35"]),
        helper.make_node("ReduceProd", ["h35"], ["h36"], keepdims=1),
        helper.make_node("Concat", ["h29", "h22", "h21", "c16"], ["h37"], axis=0),
        helper.make_node("Concat", ["h26", "c14", "h23"], ["h38"], axis=0),
        helper.make_node("Reshape", ["h15", "h38"], ["h39"]),
        helper.make_node("Transpose", ["h39"], ["h40"], perm=[0, 2, 1]),
        helper.make_node("Concat", ["h28", "c14", "h24"], ["h41"], axis=0),
        helper.make_node("Reshape", ["h14", "h41"], ["h42"]),
        helper.make_node("MatMul", ["h42", "h40"], ["h43"]),
        helper.make_node("Reshape", ["h43", "h37"], ["h44"]),
        helper.make_node("Squeeze", ["h44", "c6"], ["h45"]),
        helper.make_node("Mul", ["h8", "h45"], ["h46"]),
        helper.make_node("Add", ["h46", "h7"], ["h47"]),
        helper.make_node("Softmax", ["h47"], ["h48"]),
        helper.make_node("Unsqueeze", ["h48", "c7"], ["h49"]),
        helper.make_node("Shape", ["h49"], ["h50"]),
        helper.make_node("Gather", ["h50", "c12"], ["h51"]),
        helper.make_node("Gather", ["h50", "c6"], ["h52"]),
        helper.make_node("Gather", ["h50", "c11"], ["h53"]),
        helper.make_node("ReduceProd", ["h53"], ["h54"], keepdims=1),
        helper.make_node("Max", ["h53", "h32"], ["h55"]),
        helper.make_node("Concat", ["h55", "h51", "h30", "c16"], ["h56"], axis=0),
        helper.make_node("Concat", ["h33", "c14", "h31"], ["h57"], axis=0),
        helper.make_node("Reshape", ["h16", "h57"], ["h58"]),
        helper.make_node("Transpose", ["h58"], ["h59"], perm=[0, 2, 1]),
        helper.make_node("Concat", ["h54", "c14", "h52"], ["h60"], axis=0),
        helper.make_node("Reshape", ["h49", "h60"], ["h61"]),
        helper.make_node("MatMul", ["h61", "h59"], ["h62"]),
        helper.make_node("Reshape", ["h62", "h56"], ["h63"]),
        helper.make_node("Squeeze", ["h63", "c6"], ["h64"]),
        helper.make_node("Unsqueeze", ["h64", "c13"], ["h65"]),
        helper.make_node("Reshape", ["h65", "c1"], ["h66"]),
        helper.make_node("Shape", ["h66"], ["h67"]),
        helper.make_node("Gather", ["h67", "c11"], ["h68"]),
        helper.make_node("Gather", ["h67", "c8"], ["h69"]),
        helper.make_node("ReduceProd", ["h69"], ["h70"], keepdims=1),
        helper.make_node("Concat", ["h68", "h34", "c10"], ["h71"], axis=0),
        helper.make_node("Concat", ["c14", "h36"], ["h72"], axis=0),
        helper.make_node("Reshape", ["c15", "h72"], ["h73"]),
        helper.make_node("Concat", ["c14", "h70"], ["h74"], axis=0),
        helper.make_node("Reshape", ["h66", "h74"], ["h75"]),
        helper.make_node("Gemm", ["h75", "h73"], ["h76"], alpha=1.0, beta=0.0, transA=0, transB=1),
        helper.make_node("Reshape", ["h76", "h71"], ["h77"]),
        helper.make_node("Squeeze", ["h77", "c8"], ["y"]),
    ],
    "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, 1, 1]),
        helper.make_tensor_value_info("x1", TensorProto.FLOAT, [1, 1, 1]),
        helper.make_tensor_value_info("x2", TensorProto.BOOL, [1, 1, 1]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None, None, None])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [6], [1] * 6),
        helper.make_tensor("c2", TensorProto.INT64, [5], [1] * 5),
        helper.make_tensor("c3", TensorProto.FLOAT, [1, 1], [0.0]),
        helper.make_tensor("c4", TensorProto.BOOL, [1, 1, 1, 1], [True]),
        helper.make_tensor("c5", TensorProto.FLOAT, [], [-2.372671e+38]),
        helper.make_tensor("c6", TensorProto.INT64, [1], [4]),
        helper.make_tensor("c7", TensorProto.INT64, [1], [3]),
        helper.make_tensor("c8", TensorProto.INT64, [2], [4, 5]),
        helper.make_tensor("c9", TensorProto.INT64, [2], [2, 3]),
        helper.make_tensor("c10", TensorProto.INT64, [2], [1, 1]),
        helper.make_tensor("c11", TensorProto.INT64, [2], [0, 1]),
        helper.make_tensor("c12", TensorProto.INT64, [1], [2]),
        helper.make_tensor("c13", TensorProto.INT64, [2], [1, 2]),
        helper.make_tensor("c14", TensorProto.INT64, [1], [-1]),
        helper.make_tensor("c15", TensorProto.FLOAT, [1, 1, 1, 1, 1, 1], [0.0]),
        helper.make_tensor("c16", TensorProto.INT64, [1], [1]),
        helper.make_tensor("c17", TensorProto.INT64, [4], [-1, 1, 1, 1]),
    ],
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
