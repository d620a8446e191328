# EinsumDense gives another shape: runtime tract (equation, rank 3)
# expected float32[1, 1, 1]; received float32[1, 1]
import os
import sys
import tempfile
from importlib.metadata import version

try:
    import numpy as np
    import onnx
    import tract
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "tract", version("tract"))
data = np.zeros((1, 1, 1), "float32")
graph = helper.make_graph(
    [helper.make_node("Einsum", ["x", "c1"], ["y"], equation="...a,ab->...b")], "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor("c1", TensorProto.FLOAT, [1, 1], [0.0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
path = os.path.join(tempfile.mkdtemp(), "model.onnx")
onnx.save(proto, path)
inferred = tract.Onnx().load(path)
runnable = inferred.into_model().into_runnable()
expected = [("float32", (1, 1, 1))]
outputs = [[value.to_numpy() for value in runnable.run([data])][0]]
seen = [(output.dtype.name, tuple(output.shape)) for output in outputs]
print("expected:", expected)
print("seen:    ", seen)
sys.exit(0 if seen == expected else 1)
