"""OpenVINO: reads the ONNX file of tf2onnx. It computes in float32, not in what its processor is fastest at."""

from collections.abc import Mapping
from typing import Any

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.onnxruntime import named_inputs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_STAGES = (Stage("load", "openvino"), Stage("compile", "openvino"), Stage("run", "openvino"))
_STEP = Step("openvino", Group("openvino", "main", QUIET), __name__, "run", _STAGES)
OPENVINO = Route("openvino", "keras-tf > tf2onnx > OpenVINO", "keras3", (*STEPS, _STEP))

OPTIONS = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
"""How a model is compiled; a script does it alike."""


def start(options: Mapping[str, str]) -> "OpenVinoSession":
    """Import OpenVINO."""
    import openvino

    return OpenVinoSession(openvino)


class OpenVinoSession:
    """Compiles and runs on the CPU, on one thread."""

    def __init__(self, openvino: Any) -> None:
        self.openvino, self.core = openvino, openvino.Core()

    def versions(self) -> dict[str, str]:
        return {"openvino": self.openvino.__version__.split("-")[0]}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            model = self.core.read_model(artefact)
        work.enter("compile")
        with work.library():
            compiled = self.core.compile_model(model, "CPU", OPTIONS)
            names = {name for given in compiled.inputs for name in given.names}
        work.enter("run")
        given = named_inputs(work, names)
        with work.library():
            results = compiled({name: self._tensor(array) for name, array in given.items()})
            values = [(output.element_type.to_string(), results[output]) for output in compiled.outputs]
        return [to_wire(value, "bfloat16" if kind == "bf16" else "") for kind, value in values]

    def _tensor(self, array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            return self.openvino.Tensor(array.view("uint16"), list(array.shape), self.openvino.Type.bf16)
        return array
