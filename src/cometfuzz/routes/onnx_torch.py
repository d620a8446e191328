"""onnx2torch and onnx2pytorch: an ONNX file as a PyTorch module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step, Work, libraries
from cometfuzz.routes.calls import flat
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tf2onnx import STEPS
from cometfuzz.routes.torch_tensors import be_deterministic, to_torch, to_wire_tensors

_GROUP = Group("onnx-torch", "main", QUIET)


def _route(converter: Library) -> Route:
    name = converter.name
    stages = (Stage(name, converter), Stage("run", libraries.TORCH))
    reader = f"cometfuzz.triage.scripts.readers:{name}"
    step = Step(name, _GROUP, __name__, "run", stages, {"converter": name}, reader=reader, cpu_s=0.02)
    return Route(name, f"keras-tf > tf2onnx > {name} > PyTorch", "keras3", (*STEPS, step), fuses=False)


ONNX2TORCH, ONNX2PYTORCH = _route(libraries.ONNX2TORCH), _route(libraries.ONNX2PYTORCH)


def start(options: Mapping[str, str]) -> ModuleAdapter:
    """Import a converter. Both import torchvision, which beside a CPU build of torch lacks operators of its own."""
    import torch

    torch.set_num_threads(1)
    be_deterministic(torch)
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return ModuleAdapter(torch, options["converter"], library)
    return ModuleAdapter(torch, options["converter"], None)


class ModuleAdapter:
    """Converts and runs. `library` keeps a definition alive."""

    def __init__(self, torch: Any, converter: str, library: Any) -> None:
        import onnx

        self.torch, self.converter, self.onnx, self.library = torch, converter, onnx, library
        if converter == "onnx2torch":
            import onnx2torch

            self.convert = onnx2torch.convert
        else:
            import onnx2pytorch

            # else older releases take one row only; newer ones have the flag and do nothing with it
            self.convert = partial(onnx2pytorch.ConvertModel, experimental=True)

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {self.converter: version(self.converter), "torch": self.torch.__version__}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter(self.converter)
        with work.library():
            model = self.onnx.load_from_string(artefact)
            module = self.convert(model).eval()
        work.enter("run")
        for given in named_runs(work, [each.name for each in model.graph.input]):
            with work.library(), self.torch.no_grad():
                results = flat(module(*[to_torch(self.torch, array) for array in given.values()]))
        with work.library():
            return to_wire_tensors(results)
