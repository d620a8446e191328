"""torch.onnx: the Keras model on PyTorch, exported to ONNX and read by ONNX Runtime."""

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cometfuzz.routes import Route, Stage, Step, Work
from cometfuzz.routes.calls import flat
from cometfuzz.routes.keras import BUILD_TORCH, TORCH, Built
from cometfuzz.routes.onnxruntime import STEP as ONNXRUNTIME_STEP
from cometfuzz.routes.tensors import to_array

_EXPORT = Step("torch.onnx", TORCH, __name__, "export", (Stage("torch.onnx", "torch"),), {"opset": "18"})
_RUN = replace(ONNXRUNTIME_STEP, name="torch-onnx")
TORCH_ONNX = Route("torch-onnx", "keras-torch > torch.onnx > ONNX Runtime", "keras3", (BUILD_TORCH, _EXPORT, _RUN))


def start(options: Mapping[str, str]) -> "ExporterSession":
    """Import PyTorch."""
    import torch

    return ExporterSession(torch, int(options["opset"]))


class ExporterSession:
    """Exports the model that keras-torch built, by tracing: the other exporter takes twelve seconds a model."""

    def __init__(self, torch: Any, opset: int) -> None:
        self.torch, self.opset = torch, opset

    def versions(self) -> dict[str, str]:
        return {"torch": self.torch.__version__}

    def export(self, work: Work, built: Built) -> bytes:
        work.enter("torch.onnx")
        arrays = [to_array(tensor) for tensor in work.inputs]
        content = io.BytesIO()
        with work.library(), self.torch.no_grad():
            given = tuple(self._tensor(array) for array in arrays)
            self.torch.onnx.export(
                self._module(built.model),
                given,
                content,
                input_names=[node.id for node in work.graph.inputs],
                output_names=[f"output_{index:03}" for index in range(len(work.graph.outputs))],
                opset_version=self.opset,
                dynamo=False,
            )
        return content.getvalue()

    def _module(self, model: Any) -> Any:
        """The model as a module that takes its inputs one by one."""

        class Flat(self.torch.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, *given: Any) -> tuple[Any, ...]:
                return tuple(flat(model(list(given), training=False)))

        module = Flat()
        module.model = model
        return module.eval()

    def _tensor(self, array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            return self.torch.from_numpy(array.view("int16")).view(self.torch.bfloat16)
        return self.torch.from_numpy(array)
