# Activation gives wrong values: all libraries against the reference (activation='selu', float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 1.05070099 within 1.35e-15; received
# 1.05069995
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
data = np.ones((1, 1), "float64")
graph = helper.make_graph(
    [helper.make_node("Selu", ["x"], ["y"])], "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
path = os.path.join(tempfile.mkdtemp(), "model.onnx")
onnx.save(proto, path)
inferred = tract.Onnx().load(path)
runnable = inferred.into_model().into_runnable()
# From the documented meaning of the layers, computed in float64.
expected = np.array([[1.0507009873554805]])
seen = [value.to_numpy() for value in runnable.run([data])][0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
