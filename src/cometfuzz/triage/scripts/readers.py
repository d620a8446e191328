"""How a script runs an ONNX model that it holds as `proto`, on each library that reads one.

A step that takes an ONNX file names one of these functions, or one of another package, as its `reader`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

from cometfuzz.errors import InvalidPlugin, NoScript
from cometfuzz.plugins import load
from cometfuzz.routes import Step
from cometfuzz.routes.iree import FLAGS
from cometfuzz.routes.openvino import SETTINGS, options_with
from cometfuzz.triage.scripts.pieces import ARRAYS, METADATA, Engine, Results

Feeds = Mapping[str, str]
"""The name of an input in the file -> the name of its array in the script."""


def engine_reading(step: Step, feeds: Feeds, single: bool) -> Engine:
    """How a step runs the model; `single`: whether that has one output. NoScript where nobody has written it."""
    engine: Engine = written(step, step.reader)(feeds, single)
    return engine


def written(step: Step, place: str) -> Callable[..., Any]:
    """The function that a step names, or NoScript."""
    if not place:
        raise NoScript(f"expected a step that says how a script does it; received step={step.name!r}")
    try:
        function: Callable[..., Any] = load(EntryPoint(step.name, place, "script"))
    except InvalidPlugin as error:
        raise NoScript(str(error)) from error
    return function


def _dictionary(feeds: Feeds) -> str:
    return "{" + ", ".join(f'"{name}": {data}' for name, data in feeds.items()) + "}"


def onnxruntime(feeds: Feeds, single: bool, level: str = "", threads: int = 0) -> Engine:
    lines, options = ['providers = ["CPUExecutionProvider"]'], "options, " if level or threads else ""
    if options:
        lines.append("options = onnxruntime.SessionOptions()")
    if level:
        lines.append(f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_{level}")
    if threads:
        lines.append(f"options.intra_op_num_threads = {threads}")
    lines.append(f"session = onnxruntime.InferenceSession(proto.SerializeToString(), {options}providers=providers)")
    return Engine(
        f"session.run(None, {_dictionary(feeds)})" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import onnx", "import onnxruntime"),
        versions={"onnx": "onnx.__version__", "onnxruntime": "onnxruntime.__version__"},
        pieces=(("load", tuple(lines)),),
    )


plain_onnxruntime = partial(onnxruntime, level="DISABLE_ALL")
basic_onnxruntime = partial(onnxruntime, level="ENABLE_BASIC")
extended_onnxruntime = partial(onnxruntime, level="ENABLE_EXTENDED")
layout_onnxruntime = partial(onnxruntime, level="ENABLE_LAYOUT")
threaded_onnxruntime = partial(onnxruntime, threads=2)


def onnx_reference(feeds: Feeds, single: bool) -> Engine:
    return Engine(
        f"evaluator.run(None, {_dictionary(feeds)})" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import onnx", "from onnx.reference import ReferenceEvaluator"),
        versions={"onnx": "onnx.__version__"},
        pieces=(("load", ("evaluator = ReferenceEvaluator(proto)",)),),
    )


def openvino(feeds: Feeds, single: bool, switch: str = "") -> Engine:
    options = json.dumps(options_with(SETTINGS.get(switch, {})))
    return Engine(
        f"compiled({_dictionary(feeds)})" + ("[0]" if single else ".values()"),
        ARRAYS,
        imports=("import onnx", "import openvino"),
        versions={"onnx": "onnx.__version__", "openvino": "openvino.__version__"},
        pieces=(
            ("load", ("core = openvino.Core()", "network = core.read_model(proto.SerializeToString())")),
            ("compile", (f"options = {options}", 'compiled = core.compile_model(network, "CPU", options)')),
        ),
    )


accurate_openvino = partial(openvino, switch="accuracy")
threaded_openvino = partial(openvino, switch="two-threads")
streaming_openvino = partial(openvino, switch="throughput")

_TORCHVISION = (
    "try:",
    "    import torchvision  # noqa: F401",
    "except RuntimeError:  # beside a CPU build of torch it lacks operators that nobody needs here",
    '    for name in ("torchvision::nms", "torchvision::qnms"):',
    '        torch.library.define(name, "(Tensor dets, Tensor scores, float threshold) -> Tensor")',
)


def _torch_module(name: str, convert: str) -> Callable[[Feeds, bool], Engine]:
    def engine(feeds: Feeds, single: bool) -> Engine:
        tensors = ", ".join(f"torch.from_numpy({data})" for data in feeds.values())
        return Engine(
            f"module({tensors})",
            Results("{}.detach().numpy()", 'str({}.dtype).removeprefix("torch.")'),
            imports=("import onnx", "import torch"),
            late_imports=(*_TORCHVISION, f"import {name}"),
            versions={"onnx": "onnx.__version__", "torch": "torch.__version__", name: f'version("{name}")'},
            pieces=((name, (f"module = {convert}(proto).eval()",)),),
            standard=(METADATA,),
        )

    return engine


onnx2torch = _torch_module("onnx2torch", "onnx2torch.convert")
onnx2pytorch = _torch_module("onnx2pytorch", "onnx2pytorch.ConvertModel")


def opencv(feeds: Feeds, single: bool) -> Engine:
    read = "net = cv2.dnn.readNetFromONNX(np.frombuffer(proto.SerializeToString(), np.uint8), cv2.dnn.ENGINE_NEW)"
    outputs = "outputs = [value.name for value in proto.graph.output]"
    return Engine(
        "net.forward(outputs)" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import cv2", "import onnx"),
        versions={"onnx": "onnx.__version__", "opencv": "cv2.__version__"},
        pieces=(
            ("load", (read, outputs)),
            ("run", tuple(f'net.setInput({data}, "{name}")' for name, data in feeds.items())),
        ),
    )


def tract(feeds: Feeds, single: bool) -> Engine:
    save = ('path = os.path.join(tempfile.mkdtemp(), "model.onnx")', "onnx.save(proto, path)")
    return Engine(
        f"[value.to_numpy() for value in runnable.run([{', '.join(feeds.values())}])]" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import onnx", "import tract"),
        standard=("import os", "import tempfile", METADATA),
        versions={"onnx": "onnx.__version__", "tract": 'version("tract")'},
        pieces=(
            ("load", (*save, "inferred = tract.Onnx().load(path)")),
            ("optimise", ("runnable = inferred.into_model().into_runnable()",)),
        ),
    )


def onnxsim(feeds: Feeds, single: bool) -> Engine:
    """The simplified model on ONNX Runtime."""
    runtime = onnxruntime(feeds, single)
    pieces = [
        (stage, tuple(line.replace("proto.", "simplified.") for line in lines)) for stage, lines in runtime.pieces
    ]
    return replace(
        runtime,
        imports=("import onnx", "import onnxruntime", "import onnxsim"),
        versions={**runtime.versions, "onnxsim": 'version("onnxsim")'},
        standard=(*runtime.standard, METADATA),
        pieces=(("onnxsim", ("simplified, _ = onnxsim.simplify(proto)",)), *pieces),
    )


def iree(feeds: Feeds, single: bool) -> Engine:
    values = "call({})".format(", ".join(feeds.values()))
    importing = (
        "info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(proto, data_prop=True))",
        "module = info.create_module(context=ir.Context()).operation",
        "onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()",
    )
    loading = (
        'context = runtime.SystemContext(config=runtime.Config("local-sync"))',
        "loaded = runtime.VmModule.copy_buffer(context.instance, program)",
        "context.add_vm_module(loaded)",
        "call = getattr(context.modules[loaded.name], proto.graph.name)",
    )
    return Engine(
        f"{values}.to_host()" if single else f"[value.to_host() for value in {values}]",
        ARRAYS,
        imports=("import onnx", "from iree import runtime", "from iree.compiler import compile_str, ir"),
        late_imports=("from iree.compiler.extras import onnx_importer",),
        standard=(METADATA,),
        versions={"onnx": "onnx.__version__", "iree": 'version("iree-base-compiler")'},
        pieces=(
            ("import", importing),
            (
                "compile",
                (
                    f"flags = {json.dumps(FLAGS)}",
                    "source = module.get_asm()",
                    'options = {"input_type": "onnx", "target_backends": ["llvm-cpu"], "extra_args": flags}',
                    "program = compile_str(source, **options)",
                ),
            ),
            ("run", loading),
        ),
    )


def tvm(feeds: Feeds, single: bool) -> Engine:
    call = 'machine["main"]({})'.format(", ".join(f"tvm.runtime.tensor({data})" for data in feeds.values()))
    return Engine(
        f"{call}.numpy()" if single else f"[value.numpy() for value in {call}]",
        ARRAYS,
        imports=("import onnx", "import tvm"),
        late_imports=("from tvm import relax", "from tvm.relax.frontend.onnx import from_onnx"),
        standard=(METADATA,),
        versions={"onnx": "onnx.__version__", "tvm": 'version("apache-tvm")'},
        pieces=(
            ("import", ("module = from_onnx(proto)",)),
            ("compile", ('machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())',)),
        ),
    )
