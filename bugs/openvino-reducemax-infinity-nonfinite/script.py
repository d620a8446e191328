# Conv3DTranspose > TimeDistributed gives NaN or Inf in the wrong places: runtime OpenVINO
# (activation='squareplus', layer=GlobalMaxPooling1D, rank 4, special data)
# 1 of 1 elements differ, the first at [0, 0, 0]: expected -inf; received -3.40282347e+38
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
# Cut down to what matters of the 11 operators that a converter makes of it.
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
data = np.array([[[-np.inf]]], "float32")
graph = helper.make_graph(
    [helper.make_node("ReduceMax", ["x"], ["y"], axes=[1], keepdims=0)], "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
# From ONNX Runtime, which computes the whole layer as it is documented.
expected = np.array([[-np.inf]])
seen = compiled({"x": data})[0].astype("float64")
print("expected:", expected.tolist())
print("seen:    ", seen.tolist())
# Rounding explains a difference of at most 2.4e-07 * |expected|.
right = seen.shape == expected.shape and np.allclose(seen, expected, rtol=2.4e-07, atol=0)
sys.exit(0 if right else 1)
