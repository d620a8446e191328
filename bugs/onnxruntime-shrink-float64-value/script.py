# Activation gives wrong values: runtime ONNX Runtime (activation='soft_shrink', float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.7 within 1.2e-15; received 0.700000048
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
data = np.array([[1.2]], "float64")
graph = helper.make_graph(
    [helper.make_node("Shrink", ["x"], ["y"], bias=0.5, lambd=0.5)], "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
# From the documented meaning in float64; ONNX of ours > onnx's ReferenceEvaluator, Keras 3 on
# TensorFlow, Keras 3 on PyTorch and 15 more agree.
expected = np.array([[0.69999999999999996]])
seen = session.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
