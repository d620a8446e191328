# AveragePooling1D raises an exception: runtime IREE (pool_size, data_format='channels_first')
# CompilerToolError in compile: 'linalg.generic' op inferred input/output operand #1 has shape's
# dimension #0 to be 6, but found 4
import sys
from importlib.metadata import version

try:
    import onnx
    from iree.compiler import compile_str, ir
    from onnx import TensorProto, helper
    from iree.compiler.extras import onnx_importer
except ImportError as error:
    print("missing:", error)
    sys.exit(2)

print("versions:", "onnx", onnx.__version__, "iree", version("iree-base-compiler"))
graph = helper.make_graph(
    [
        helper.make_node("Reshape", ["x", "c1"], ["h1"]),
        helper.make_node("Unsqueeze", ["h1", "c2"], ["h2"]),
        helper.make_node("Reshape", ["h2", "c3"], ["h3"]),
        helper.make_node("AveragePool", ["h3"], ["h4"], kernel_shape=[1, 4], strides=[1, 4]),
        helper.make_node("Squeeze", ["h4", "c4"], ["h5"]),
        helper.make_node("Reshape", ["h5", "c5"], ["y"]),
    ],
    "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 6])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1])],
    [
        helper.make_tensor("c1", TensorProto.INT64, [3], [1, 6, 1]),
        helper.make_tensor("c2", TensorProto.INT64, [1], [1]),
        helper.make_tensor("c3", TensorProto.INT64, [4], [1, 1, 1, 6]),
        helper.make_tensor("c4", TensorProto.INT64, [1], [2]),
        helper.make_tensor("c5", TensorProto.INT64, [3], [1] * 3),
    ],
)
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.checker.check_model(proto, full_check=True)
info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(proto, data_prop=True))
module = info.create_module(context=ir.Context()).operation
onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
print("expected: no exception")
try:
    flags = ["--iree-llvmcpu-target-cpu=host", "--mlir-disable-threading"]
    source = module.get_asm()
    options = {"input_type": "onnx", "target_backends": ["llvm-cpu"], "extra_args": flags}
    program = compile_str(source, **options)
except Exception as error:  # noqa: BLE001
    print(f"seen: {type(error).__name__}: {error}")
    sys.exit(1)
print("seen: no exception")
