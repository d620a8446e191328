# ZeroPadding2D > AveragePooling2D raises an exception: runtime ONNX Runtime (padding,
# data_format='channels_first')
# Fail in load: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization:
# /onnxruntime_src/onnxruntime/core/providers/cpu/nn/pool_attributes.h:88 ...
import sys

try:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
graph = helper.make_graph(
    [
        helper.make_node("Pad", ["x", "c1"], ["h1"]),
        helper.make_node("AveragePool", ["h1"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 1, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 2, 1])],
    [helper.make_tensor("c1", TensorProto.INT64, [8], [0, 0, 1, 0, 0, 0, 2, 0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
print("expected: no exception")
try:
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
