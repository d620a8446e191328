"""OpenCV's dnn module: reads the ONNX file of tf2onnx.

Version 5 has several engines. Left to itself it tries its new one and falls back to the classic one, or to ONNX Runtime
where it was built with that (the wheels are not); so the new one is asked for by name, and what is found is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_STAGES = (Stage("load", libraries.OPENCV), Stage("run", libraries.OPENCV))
_READER = "cometfuzz.triage.scripts.readers:opencv"
_STEP = Step("opencv", Group("opencv", "readers", QUIET), __name__, "run", _STAGES, reader=_READER)
OPENCV = Route("opencv", "keras-tf > tf2onnx > OpenCV dnn", "keras3", (*STEPS, _STEP), turn="")


def start(options: Mapping[str, str]) -> OpenCvAdapter:
    """Import OpenCV, and onnx, which knows the names of a file's inputs and outputs."""
    import cv2
    import onnx

    cv2.setNumThreads(1)
    return OpenCvAdapter(cv2, onnx)


class OpenCvAdapter:
    """Runs ONNX files on OpenCV's new engine."""

    def __init__(self, cv2: Any, onnx: Any) -> None:
        self.cv2, self.onnx = cv2, onnx

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"opencv": version("opencv-python-headless")}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        graph = self.onnx.load_from_string(artefact).graph
        outputs = [value.name for value in graph.output]
        with work.library():
            net = self.cv2.dnn.readNetFromONNX(np.frombuffer(artefact, np.uint8), self.cv2.dnn.ENGINE_NEW)
        work.enter("run")
        for given in named_runs(work, [value.name for value in graph.input]):
            with work.library():
                for name, array in given.items():
                    net.setInput(array, name)
                values = net.forward(outputs)
        return [to_wire(value) for value in values]
