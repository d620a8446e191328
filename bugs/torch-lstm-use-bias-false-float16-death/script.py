# ONNX Runtime ends with SIGSEGV while loading Transpose followed by MatMul in float16
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
    import onnx.parser
    import onnxruntime
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__, flush=True)
model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
graph (float16[2, 3, 4] x) => (float16[3, 2, 1] y) <float16[4, 1] w = {0, 0, 0, 0}> {
    h = Transpose <perm = [1, 0, 2]> (x)
    y = MatMul(h, w)
}""")
onnx.checker.check_model(model, full_check=True)
onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("done")
