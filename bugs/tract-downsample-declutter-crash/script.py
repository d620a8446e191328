# SeparableConv1D raises an exception: runtime tract (strides)
# TractError in optimise: running pass declutter Caused by: 0: declutter node #16
# "functional_1/layer_1/separable_conv2d/depthwise.downsample.0" Downsample 1: Pulling #16 ...
# Cut down to what matters of the 7 operators that a converter makes of it.
import os
import sys
import tempfile
from importlib.metadata import version

try:
    import onnx
    import tract
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "tract", version("tract"))
graph = helper.make_graph(
    [
        helper.make_node("Reshape", ["x", "c1"], ["h1"]),
        helper.make_node("Conv", ["h1", "c2"], ["y"], strides=[2, 2]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [4], [1, 1, 1, 2]),
        helper.make_tensor("c2", TensorProto.FLOAT, [1, 1, 1, 1], [0.0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
path = os.path.join(tempfile.mkdtemp(), "model.onnx")
onnx.save(proto, path)
inferred = tract.Onnx().load(path)
print("expected: no exception")
try:
    runnable = inferred.into_model().into_runnable()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
