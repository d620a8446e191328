# MaxPooling3D raises an exception: runtime ONNX ReferenceEvaluator (pool_size, strides,
# padding='same', data_format='channels_first')
# IndexError in run: index 1 is out of bounds for axis 4 with size 1
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
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
data = np.zeros((1, 1, 2, 2, 3), "float32")
graph = helper.make_graph(
    [helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2, 2, 3], pads=[0, 0, 1, 1, 1, 1], strides=[1, 1, 1]
    )],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2, 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 2, 3])],
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
