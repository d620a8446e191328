# MaxPooling1D raises an exception: runtime ONNX ReferenceEvaluator (pool_size, strides,
# padding='same')
# RuntimeError in run: output shape cannot be null or negative, out_shape=(2, 0), auto_pad='VALID',
# input_spatial_shape=array([2, 2]), kernel_spatial_shape=[1, 3], strides_spatial=[1, 1], ...
# Cut down to what matters of the 5 operators that a converter makes of it.
import sys

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__)
data = np.zeros((1, 1, 1, 1), "float32")
graph = helper.make_graph(
    [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1, 3], pads=[0, 1, 0, 1])], "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
print("expected: no exception")
try:
    seen = evaluator.run(None, {"x": data})[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
