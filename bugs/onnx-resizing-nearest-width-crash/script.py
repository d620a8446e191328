# Resizing raises an exception: runtime ONNX ReferenceEvaluator (width, interpolation='nearest')
# ValueError in run: Invalid coordinate_transformation_mode: 'tf_half_pixel_for_nn'.
# Cut down to what matters of the 3 operators that a converter makes of it.
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
    [helper.make_node(
        "Resize", ["x", "", "c1"], ["y"], coordinate_transformation_mode="tf_half_pixel_for_nn"
    )],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1, 2])],
    [helper.make_tensor("c1", TensorProto.FLOAT, [4], [1.0, 1.0, 1.0, 2.0])],
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
