"""How a script runs an ONNX model that it holds as `proto`, on each library that reads one."""

import json
from collections.abc import Callable, Mapping

from cometfuzz.routes.openvino import OPTIONS
from cometfuzz.triage.scripts.pieces import ARRAYS, METADATA, Engine, Results

Feeds = Mapping[str, str]
"""The name of an input in the file -> the name of its array in the script."""


def _dictionary(feeds: Feeds) -> str:
    return "{" + ", ".join(f'"{name}": {data}' for name, data in feeds.items()) + "}"


def _onnxruntime(feeds: Feeds, single: bool, optimise: bool = True) -> Engine:
    lines, options = ['providers = ["CPUExecutionProvider"]'], ""
    if not optimise:
        lines.append("options = onnxruntime.SessionOptions()")
        lines.append("options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL")
        options = "options, "
    lines.append(f"session = onnxruntime.InferenceSession(proto.SerializeToString(), {options}providers=providers)")
    return Engine(
        f"session.run(None, {_dictionary(feeds)})" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import onnx", "import onnxruntime"),
        versions={"onnx": "onnx.__version__", "onnxruntime": "onnxruntime.__version__"},
        pieces=(("load", tuple(lines)),),
    )


def _plain_onnxruntime(feeds: Feeds, single: bool) -> Engine:
    return _onnxruntime(feeds, single, optimise=False)


def _onnx_reference(feeds: Feeds, single: bool) -> Engine:
    return Engine(
        f"evaluator.run(None, {_dictionary(feeds)})" + ("[0]" if single else ""),
        ARRAYS,
        imports=("import onnx", "from onnx.reference import ReferenceEvaluator"),
        versions={"onnx": "onnx.__version__"},
        pieces=(("load", ("evaluator = ReferenceEvaluator(proto)",)),),
    )


def _openvino(feeds: Feeds, single: bool) -> Engine:
    return Engine(
        f"compiled({_dictionary(feeds)})" + ("[0]" if single else ".values()"),
        ARRAYS,
        imports=("import onnx", "import openvino"),
        versions={"onnx": "onnx.__version__", "openvino": "openvino.__version__"},
        pieces=(
            ("load", ("core = openvino.Core()", "network = core.read_model(proto.SerializeToString())")),
            ("compile", (f"options = {json.dumps(OPTIONS)}", 'compiled = core.compile_model(network, "CPU", options)')),
        ),
    )


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


READERS: dict[str, Callable[[Feeds, bool], Engine]] = {
    "onnxruntime": _onnxruntime,
    "torch-onnx": _onnxruntime,
    "onnxruntime-noopt": _plain_onnxruntime,
    "onnx-reference": _onnx_reference,
    "openvino": _openvino,
    "onnx2torch": _torch_module("onnx2torch", "onnx2torch.convert"),
    "onnx2pytorch": _torch_module("onnx2pytorch", "onnx2pytorch.ConvertModel"),
}
"""By the name of the route's last step: (inputs, whether there is one output) -> how it is run."""
