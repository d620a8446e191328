# UpSampling2D gives wrong values: runtime OpenVINO (data_format='channels_first',
# interpolation='bicubic')
# 8 of 8 elements differ, the first at [0, 0, 0, 0]: expected 5.91176471 within 7.47e-06; received
# 5.9296875
# Cut down to what matters of the 1 operators that a converter makes of it.
import sys

try:
    import numpy as np
    import onnx
    import openvino
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "openvino", openvino.__version__)
data = np.array([[[[6.0, 7.0]]]], "float32")
graph = helper.make_graph(
    [helper.make_node(
        "Resize", ["x", "", "c1"], ["y"], cubic_coeff_a=-0.5, exclude_outside=1, mode="cubic"
    )],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 4])],
    [helper.make_tensor("c1", TensorProto.FLOAT, [4], [1.0, 1.0, 2.0, 2.0])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
# From ONNX Runtime, which computes the whole layer as it is documented.
expected = np.array([
    [[[5.91176414, 6.20714283, 6.79285717, 7.0882349], [5.91176414, 6.20714283, 6.79285717,
    7.0882349]]]
])
seen = compiled({"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 4.4e-04 + 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=4.4e-04)
sys.exit(0 if right else 1)
