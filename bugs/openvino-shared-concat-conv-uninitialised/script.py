# ReLU > Conv3DTranspose > Concatenate reads uninitialised memory: runtime OpenVINO (rank 5, axis)
# 2 of 2 elements depend on uninitialised memory: [0, 0, 0, 0, 0] is 3.0730443758239744e+16 or
# -12657.4423828125, as that memory happens to be
# Seen on x86-64-v4 (AMD EPYC), OPENBLAS_CORETYPE=Haswell.
import os
import subprocess
import sys

# glibc fills memory with a byte if it is told to, so that what nobody has written shows.
# Other C libraries do not: there this script shows nothing.
if "child" not in sys.argv:
    answers = []
    for byte in ("165", "58", "165"):
        filled = {"MALLOC_PERTURB_": byte, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
        child = subprocess.run(
            [sys.executable, __file__, "child"],
            env={**os.environ, **filled},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if child.returncode == 2:
            print(child.stdout)
            sys.exit(2)
        versions, _, answer = child.stdout.strip().rpartition(chr(10))
        answers.append(answer if child.returncode == 0 else f"exit code {child.returncode}")
    first, other, again = answers
    print(versions)
    print("expected: the same whatever memory held before:", first[:500])
    print("seen:    ", other[:500])
    sys.exit(1 if first == again != other else 0)

try:
    import numpy as np
    import onnx
    import openvino
    from onnx import TensorProto, helper
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "openvino", openvino.__version__, flush=True)
data = np.zeros((1, 2, 1, 1, 2), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Relu", ["x"], ["h1"]),
        helper.make_node("Concat", ["h1", "h1"], ["y0"], axis=1),
        helper.make_node("Transpose", ["h1"], ["h2"], perm=[0, 4, 1, 2, 3]),
        helper.make_node(
            "ConvTranspose", ["h2", "c1", "c2"], ["h3"], dilations=[1, 1, 1], kernel_shape=[1, 1,
            1], pads=[0, 0, 0, 0, 0, 0], strides=[1, 1, 1]
        ),
        helper.make_node("Transpose", ["h3"], ["y1"], perm=[0, 2, 3, 4, 1]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 1, 1, 2])],
    [
        helper.make_tensor_value_info("y0", TensorProto.FLOAT, [1, 4, 1, 1, 2]),
        helper.make_tensor_value_info("y1", TensorProto.FLOAT, [1, 2, 1, 1, 1]),
    ],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [2, 1, 1, 1, 1], [1.0, 1.0]),
        helper.make_tensor("c2", TensorProto.FLOAT, [1], [0.0]),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
outputs = [y for y in compiled({"x": data}).values()]
print([output.tolist() for output in outputs])
