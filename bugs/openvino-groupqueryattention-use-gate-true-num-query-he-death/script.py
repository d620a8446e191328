# GroupQueryAttention kills the process: runtime OpenVINO (num_query_heads, use_gate=True, dropout)
# signal in compile SIGSEGV
# Cut down to what matters of the 29 operators that a converter makes of it.
import signal
import subprocess
import sys

if "child" not in sys.argv:
    # The process dies, so another one looks at how it ends.
    code = subprocess.run([sys.executable, __file__, "child"], check=False).returncode
    print("expected: exit code 0")
    print("seen:", signal.Signals(-code).name if code < 0 else f"exit code {code}")
    sys.exit(code if code in (0, 2) else 1)

try:
    import numpy as np
    import onnx
    import openvino
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "openvino", openvino.__version__, flush=True)
data0 = np.zeros((1, 2, 2, 1), "float32")
data1 = np.ones((1, 2, 1, 2), "float32")
data2 = np.zeros((1, 2, 1), "float32")
data3 = np.ones((1, 2, 2, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x2", "c1"], ["y0"]),
        helper.make_node("MatMul", ["x0", "x1"], ["h1"]),
        helper.make_node("Softmax", ["h1"], ["h2"]),
        helper.make_node("MatMul", ["h2", "x3"], ["h3"]),
        helper.make_node("Transpose", ["h3"], ["h4"], perm=[0, 2, 1, 3]),
        helper.make_node("MatMul", ["x2", "c2"], ["h5"]),
        helper.make_node("Reshape", ["h5", "c3"], ["h6"]),
        helper.make_node("Add", ["h6", "c4"], ["h7"]),
        helper.make_node("Sigmoid", ["h7"], ["h8"]),
        helper.make_node("Mul", ["h4", "h8"], ["h9"]),
        helper.make_node("Reshape", ["h9", "c5"], ["h10"]),
        helper.make_node("MatMul", ["h10", "c6"], ["y1"]),
    ],
    "graph",
    [
        helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, 2, 2, 1]),
        helper.make_tensor_value_info("x1", TensorProto.FLOAT, [1, 2, 1, 2]),
        helper.make_tensor_value_info("x2", TensorProto.FLOAT, [1, 2, 1]),
        helper.make_tensor_value_info("x3", TensorProto.FLOAT, [1, 2, 2, 1]),
    ],
    [
        helper.make_tensor_value_info("y0", TensorProto.FLOAT, [1, 2, 1]),
        helper.make_tensor_value_info("y1", TensorProto.FLOAT, [1, 2, 1]),
    ],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [1, 1], [1.0]),
        helper.make_tensor("c2", TensorProto.FLOAT, [1, 2], [1.0, 1.0]),
        helper.make_tensor("c3", TensorProto.INT64, [4], [-1, 2, 2, 1]),
        helper.make_tensor("c4", TensorProto.FLOAT, [2, 1, 1], [1.0, 1.0]),
        helper.make_tensor("c5", TensorProto.INT64, [3], [-1, 2, 2]),
        helper.make_tensor("c6", TensorProto.FLOAT, [2, 1], [1.0, 1.0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
seen = compiled({"x0": data0, "x1": data1, "x2": data2, "x3": data3}).values()
print("done")
