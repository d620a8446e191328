# ReLU raises an exception: runtime IREE (float64)
# IndexError in run: Error invoking function: c/runtime/src/iree/hal/buffer_view.c:47: OUT_OF_RANGE;
# buffer view byte length 8 exceeds backing buffer byte length 4; while invoking native function ...
import sys
from importlib.metadata import version

try:
    import numpy as np
    import onnx
    from iree import runtime
    from iree.compiler import compile_str, ir
    from onnx import TensorProto, helper
    from iree.compiler.extras import onnx_importer
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "iree", version("iree-base-compiler"))
data = np.zeros((1, 1), "float64")
graph = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["y"])], "graph",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1, 1])],
    [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [1, 1])],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(proto, data_prop=True))
module = info.create_module(context=ir.Context()).operation
onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
flags = ["--iree-llvmcpu-target-cpu=host", "--mlir-disable-threading"]
source = module.get_asm()
options = {"input_type": "onnx", "target_backends": ["llvm-cpu"], "extra_args": flags}
program = compile_str(source, **options)
print("expected: no exception")
try:
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    loaded = runtime.VmModule.copy_buffer(context.instance, program)
    context.add_vm_module(loaded)
    call = getattr(context.modules[loaded.name], proto.graph.name)
    seen = call(data).to_host()
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
