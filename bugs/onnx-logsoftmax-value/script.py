# Activation gives wrong values: runtime ONNX ReferenceEvaluator (activation='log_softmax')
# 1 of 13 elements differ, the first at [0, 12]: expected -99 within 6.18e-05; received -99.0022659
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
data = np.array([[0.0, -1.0, 0.0, 0.0, 0.0, 91.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -8.0]], "float32")
graph = helper.make_graph(
    [helper.make_node("LogSoftmax", ["x"], ["y"], axis=-1)], "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 13])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 13])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
evaluator = ReferenceEvaluator(proto)
# From the documented meaning in float64; ONNX of ours > ONNX Runtime, Keras 3 on TensorFlow, Keras
# 3 on PyTorch and 21 more agree.
expected = np.array([
    [-91.0, -92.0, -91.0, -91.0, -91.0, -3.12540381e-39, -91.0, -91.0, -91.0, -91.0, -91.0, -91.0,
    -99.0]
])
seen = evaluator.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4e-05 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4e-05)
sys.exit(0 if right else 1)
