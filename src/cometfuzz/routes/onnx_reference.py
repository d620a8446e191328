"""onnx's own ReferenceEvaluator: tells the converter's fault from a runtime's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.libraries import ONNX
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_READER = "cometfuzz.triage.scripts.readers:onnx_reference"
_STEP = Step(
    "onnx-reference",
    Group("onnx", "main", QUIET),
    __name__,
    "run",
    (Stage("load", ONNX), Stage("run", ONNX)),
    reader=_READER,
    cpu_s=0.01,
)
ONNX_REFERENCE = Route(
    "onnx-reference", "keras-tf > tf2onnx > onnx's ReferenceEvaluator", "keras3", (*STEPS, _STEP), fuses=False
)


def start(options: Mapping[str, str]) -> EvaluatorAdapter:
    """Import onnx."""
    import onnx
    import onnx.reference

    return EvaluatorAdapter(onnx)


class EvaluatorAdapter:
    """Evaluates ONNX files."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            evaluator = self.onnx.reference.ReferenceEvaluator(self.onnx.load_from_string(artefact))
        work.enter("run")
        for given in named_runs(work, evaluator.input_names):
            with work.library():
                values = evaluator.run(None, given)
        return [to_wire(value) for value in values]
