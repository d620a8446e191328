"""onnxsim: simplifies the ONNX file of tf2onnx, which ONNX Runtime then reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.onnxruntime import STEP
from cometfuzz.routes.tf2onnx import STEPS

_STEP = Step(
    "onnxsim",
    Group("onnxsim", "readers", QUIET),
    __name__,
    "simplify",
    (Stage("onnxsim", libraries.ONNXSIM),),
    reader="cometfuzz.triage.scripts.readers:onnxsim",
)
ONNXSIM = Route("onnxsim", "keras-tf > tf2onnx > onnxsim > ONNX Runtime", "keras3", (*STEPS, _STEP, STEP), turn="")


def start(options: Mapping[str, str]) -> SimplifierAdapter:
    """Import onnxsim."""
    import onnx
    import onnxsim

    return SimplifierAdapter(onnxsim, onnx)


class SimplifierAdapter:
    """Makes a simpler ONNX file of another."""

    def __init__(self, onnxsim: Any, onnx: Any) -> None:
        self.onnxsim, self.onnx = onnxsim, onnx

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"onnxsim": version("onnxsim")}

    def simplify(self, work: Work, artefact: bytes) -> bytes:
        work.enter("onnxsim")
        with work.library():
            simplified, _ = self.onnxsim.simplify(self.onnx.load_from_string(artefact))
            content: bytes = simplified.SerializeToString()
        return content
