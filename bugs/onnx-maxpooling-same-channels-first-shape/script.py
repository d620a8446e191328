# MaxPooling2D gives another shape: runtime ONNX ReferenceEvaluator (strides, padding='same',
# data_format='channels_first')
# expected float32[1, 2, 2, 1]; received float32[1, 2, 1, 2]
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
data = np.zeros((1, 2, 2, 1), "float32")
graph = helper.make_graph(
    [helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[0, 0, 1, 1], strides=[1, 1]
    )],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 2, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 2, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
expected = [("float32", (1, 2, 2, 1))]
outputs = [evaluator.run(None, {"x": data})[0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
