# GlobalMaxPooling3D raises an exception: runtime OpenCV (data_format='channels_first')
# error in run: OpenCV(5.0.0) /io/opencv/modules/dnn/src/layers/pooling_layer.cpp:1214: error:
# (-2:Unspecified error) in function 'virtual bool ...
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
data = np.zeros((1, 1, 1, 1, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("GlobalMaxPool", ["x"], ["h1"]),
        helper.make_node("Squeeze", ["h1", "c1"], ["y"]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
    [helper.make_tensor("c1", TensorProto.INT64, [3], [2, 3, 4])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
net = cv2.dnn.readNetFromONNX(np.frombuffer(proto.SerializeToString(), np.uint8), cv2.dnn.ENGINE_NEW)
outputs = [value.name for value in proto.graph.output]
print("expected: no exception")
try:
    net.setInput(data, "x")
    seen = net.forward(outputs)[0]
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
