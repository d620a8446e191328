# Dense gives wrong values: runtime ONNX Runtime (float64)
# 1 of 1 elements differ, the first at [0, 0]: expected 0.6 within 1.15e-15; received 0.600000024
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
data = np.ones((1, 1), "float64")
graph = helper.make_graph(
    [
        helper.make_node("Cast", ["x"], ["h1"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["h1", "c1"], ["h2"]),
        helper.make_node("Cast", ["h2"], ["h3"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["h3"], ["h4"], to=TensorProto.DOUBLE),
        helper.make_node("Add", ["h4", "c2"], ["y"]),
    ],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [1, 1], [0.6]),
        helper.make_tensor("c2", TensorProto.DOUBLE, [1], [0.0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
providers = ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=providers)
# From the documented meaning in float64; Keras 3 on TensorFlow, Keras 3 on JAX, tf-keras (Keras 2)
# on TensorFlow and 9 more agree.
expected = np.array([[0.59999999999999998]])
seen = session.run(None, {"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 8.9e-16 + 4.7e-16 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=4.7e-16, atol=8.9e-16)
sys.exit(0 if right else 1)
