"""tract: reads the ONNX file of tf2onnx. Its Python package reads files from disk only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_STAGES = tuple(Stage(name, libraries.TRACT) for name in ("load", "optimise", "run"))
_GROUP = Group("tract", "readers", {**QUIET, "RUST_BACKTRACE": "0"})
_STEP = Step("tract", _GROUP, __name__, "run", _STAGES, reader="cometfuzz.triage.scripts.readers:tract")
TRACT = Route("tract", "keras-tf > tf2onnx > tract", "keras3", (*STEPS, _STEP), turn="")


def start(options: Mapping[str, str]) -> TractAdapter:
    """Import tract."""
    import tract

    return TractAdapter(tract)


class TractAdapter:
    """Optimises and runs ONNX files."""

    def __init__(self, tract: Any) -> None:
        self.tract = tract

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"tract": version("tract")}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(artefact)
            with work.library():
                inferred = self.tract.Onnx().load(path)
        with work.library():
            names = [inferred.input_name(index) for index in range(inferred.input_count())]
        work.enter("optimise")
        with work.library():
            runnable = inferred.into_model().into_runnable()
        work.enter("run")
        for given in named_runs(work, names):
            with work.library():
                values = [value.to_numpy() for value in runnable.run([given[name] for name in names])]
        return [to_wire(value) for value in values]
