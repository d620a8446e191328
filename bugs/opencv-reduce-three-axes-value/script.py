# GlobalMaxPooling3D gives wrong values: runtime OpenCV
# 1 of 2 elements differ, the first at [0, 0]: expected 0 within 6.34e-07; received -1
import sys

try:
    import cv2
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "opencv", cv2.__version__)
data = np.array([[[[[-1.0, 2.0]]], [[[-2.0, 0.0]]], [[[0.0, 2.0]]]]], "float32")
graph = helper.make_graph(
    [helper.make_node("ReduceMax", ["x"], ["y"], axes=[1, 2, 3], keepdims=0)], "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 1, 1, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
net = cv2.dnn.readNetFromONNX(np.frombuffer(proto.SerializeToString(), np.uint8), cv2.dnn.ENGINE_NEW)
outputs = [value.name for value in proto.graph.output]
net.setInput(data, "x")
# From the documented meaning in float64; keras-tf > tf2onnx > tract, keras-tf > tf2onnx > TVM
# agree.
expected = np.array([[0.0, 2.0]])
seen = net.forward(outputs)[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 6.7e-07 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=6.7e-07)
sys.exit(0 if right else 1)
