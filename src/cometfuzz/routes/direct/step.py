"""The step that writes a graph as an ONNX file, and the routes that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.direct.asking import NEWEST, USUAL
from cometfuzz.routes.onnx_reference import ONNX_REFERENCE
from cometfuzz.routes.onnx_torch import ONNX2PYTORCH, ONNX2TORCH
from cometfuzz.routes.onnxruntime import ONNXRUNTIME, ONNXRUNTIME_NOOPT
from cometfuzz.routes.openvino import OPENVINO
from cometfuzz.routes.tensors import to_array

WRITE = Step(
    "direct",
    Group("onnx", "main", QUIET),
    __name__,
    "write",
    (Stage("write", libraries.COMETFUZZ), Stage("check", libraries.COMETFUZZ)),
    {"opset": str(USUAL), "newest": str(NEWEST)},
    objection="cometfuzz.routes.direct.asking:objection",
    cpu_s=0.005,
)


def _reading(route: Route) -> Route:
    """A route that reads an ONNX file, with ours in the place of the converter's."""
    name, reader = f"direct-{route.name}", route.path.rpartition("tf2onnx > ")[2]
    step = replace(route.steps[-1], name=name)
    return replace(
        route, name=name, path=f"ONNX of ours > {reader}", speaks="", steps=(WRITE, step), turn="sampled", clear=False
    )


DIRECT_ONNXRUNTIME = _reading(ONNXRUNTIME)
DIRECT_ONNXRUNTIME_NOOPT = _reading(ONNXRUNTIME_NOOPT)
DIRECT_OPENVINO = _reading(OPENVINO)
DIRECT_ONNX_REFERENCE = _reading(ONNX_REFERENCE)
DIRECT_ONNX2TORCH = _reading(ONNX2TORCH)
DIRECT_ONNX2PYTORCH = _reading(ONNX2PYTORCH)


def start(options: Mapping[str, str]) -> WritingAdapter:
    """Import onnx."""
    import onnx

    return WritingAdapter(onnx, options)


class WritingAdapter:
    """Writes graphs."""

    def __init__(self, onnx: Any, options: Mapping[str, str]) -> None:
        from cometfuzz.routes.direct.encoding import Encoder

        self.onnx, self.options, self.encoder = onnx, options, Encoder(onnx)

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def write(self, work: Work, value: None) -> bytes:
        """The file: at the opset that the case wants, else at the usual one, or the newest if that cannot say it."""
        from cometfuzz.routes.direct.encoding import write_at

        work.enter("write")
        arrays = {node: [to_array(tensor) for tensor in tensors] for node, tensors in work.weights.items()}
        usual, newest = int(self.options["opset"]), int(self.options["newest"])
        wanted = min(work.manner.opset, newest) if work.manner.opset else usual
        proto = self.encoder.model(work.graph, *write_at((wanted, newest), work.graph, arrays, work.manner))
        work.enter("check")
        with work.library():
            self.onnx.checker.check_model(proto, full_check=True)
            content: bytes = proto.SerializeToString()
        return content
