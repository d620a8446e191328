"""torch.onnx: the Keras model on PyTorch, exported to ONNX and read by ONNX Runtime."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cometfuzz.routes import Route, Stage, Step, Work, libraries
from cometfuzz.routes.handing import opset_of, output_name
from cometfuzz.routes.keras import BUILD_TORCH, TORCH, Built
from cometfuzz.routes.onnxruntime import STEP as ONNXRUNTIME_STEP
from cometfuzz.routes.onnxruntime import SWITCHES
from cometfuzz.routes.tensors import to_array
from cometfuzz.routes.torch_tensors import as_module, to_torch

_ENGINE = "cometfuzz.triage.scripts.engines:torch_onnx"
_EXPORT = Step(
    "torch.onnx",
    TORCH,
    __name__,
    "export",
    (Stage("torch.onnx", libraries.TORCH),),
    {"opset": "18", "newest": "20"},
    engine=_ENGINE,
    cpu_s=0.2,
)
_RUN = replace(ONNXRUNTIME_STEP, name="torch-onnx")
TORCH_ONNX = Route(
    "torch-onnx",
    "keras-torch > torch.onnx > ONNX Runtime",
    "keras3",
    (BUILD_TORCH, _EXPORT, _RUN),
    clear=True,
    switches=SWITCHES,
)


def start(options: Mapping[str, str]) -> ExporterAdapter:
    """Import PyTorch."""
    import torch

    return ExporterAdapter(torch, options)


def dynamic_axes(work: Work) -> dict[str, dict[int, str]]:
    """The open axes of each input, with the names that they get in the file."""
    return {name: {axis: f"{name}_{axis}" for axis in axes} for name, axes in work.manner.opened.items()}


class ExporterAdapter:
    """Exports the model that keras-torch built, by tracing: the other exporter takes twelve seconds a model."""

    def __init__(self, torch: Any, options: Mapping[str, str]) -> None:
        self.torch, self.options = torch, options

    def versions(self) -> dict[str, str]:
        return {"torch": self.torch.__version__}

    def export(self, work: Work, built: Built) -> bytes:
        work.enter("torch.onnx")
        arrays = [to_array(tensor) for tensor in work.inputs]
        content = io.BytesIO()
        with work.library(), self.torch.no_grad():
            given = tuple(to_torch(self.torch, array) for array in arrays)
            self.torch.onnx.export(
                as_module(self.torch, work, built.model),
                given,
                content,
                input_names=[node.id for node in work.graph.inputs],
                output_names=[output_name(index) for index in range(len(work.graph.outputs))],
                opset_version=opset_of(self.options, work.manner.opset),
                dynamic_axes=dynamic_axes(work) or None,
                dynamo=False,
            )
        return content.getvalue()
