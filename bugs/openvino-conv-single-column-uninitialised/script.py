# Conv2D reads uninitialised memory: runtime OpenVINO (filters, padding='same', kernel_size,
# strides)
# 5 of 15 elements depend on uninitialised memory: [0, 2, 0, 0] is 6.146088751647949e+16 or
# -25314.884765625, as that memory happens to be
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
data = np.zeros((1, 3, 1, 1), "float32")
graph = helper.make_graph(
    [
        helper.make_node("Transpose", ["x"], ["h1"], perm=[0, 3, 1, 2]),
        helper.make_node(
            "Conv", ["h1", "c1", "c2"], ["h2"], dilations=[1, 1], group=1, kernel_shape=[5, 2],
            pads=[2, 0, 2, 1], strides=[1, 2]
        ),
        helper.make_node("Transpose", ["h2"], ["y"], perm=[0, 2, 3, 1]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 1, 5])],
    [
        helper.make_tensor("c1", TensorProto.FLOAT, [5, 1, 5, 2], [1.0] * 50),
        helper.make_tensor("c2", TensorProto.FLOAT, [5], [0.0] * 5),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
core = openvino.Core()
network = core.read_model(proto.SerializeToString())
options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = core.compile_model(network, "CPU", options)
outputs = [compiled({"x": data})[0]]
print([output.tolist() for output in outputs])
