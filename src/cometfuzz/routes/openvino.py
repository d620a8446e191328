"""OpenVINO: reads the ONNX file of tf2onnx. It computes in float32, not in what its processor is fastest at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Switch, Work, libraries
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.telling import OPENVINO as TOLD
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_STAGES = tuple(Stage(name, libraries.OPENVINO) for name in ("load", "compile", "run"))
_READERS = "cometfuzz.triage.scripts.readers"
GROUP = Group("openvino", "main", QUIET)
_STEP = Step("openvino", GROUP, __name__, "run", _STAGES, reader=f"{_READERS}:openvino", cpu_s=0.1, tells=True)

OPTIONS = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
"""How a model is compiled; a script does it alike."""

SETTINGS = {
    "accuracy": {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": ""},
    "throughput": {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": ""},
    "two-threads": {"INFERENCE_NUM_THREADS": "2"},
}
"""Other options by the names of their switches; an empty one is left out. None may cost digits: a precision of bf16
would, and nobody here judges values by that."""

_SAYS = {
    "accuracy": ("with the execution mode ACCURACY", "accurate"),
    "throughput": ("with the performance hint THROUGHPUT", "streaming"),
    "two-threads": ("on two threads", "threaded"),
}
_SWITCHES = tuple(
    Switch(name, says, libraries.OPENVINO, options=SETTINGS[name], reader=f"{_READERS}:{reader}_openvino")
    for name, (says, reader) in _SAYS.items()
)
OPENVINO = Route("openvino", "keras-tf > tf2onnx > OpenVINO", "keras3", (*STEPS, _STEP), switches=_SWITCHES)


def options_with(settings: Mapping[str, str]) -> dict[str, Any]:
    """The options to compile a model with, where some are set otherwise than usually."""
    return {name: value for name, value in {**OPTIONS, **settings}.items() if value != ""}


def start(options: Mapping[str, str]) -> OpenVinoAdapter:
    """Import OpenVINO."""
    import openvino

    return OpenVinoAdapter(openvino, options)


class OpenVinoAdapter:
    """Compiles and runs on the CPU; if asked to `tell`, prints which kernels it runs."""

    def __init__(self, openvino: Any, options: Mapping[str, str]) -> None:
        self.openvino, self.core, self.tells = openvino, openvino.Core(), "tell" in options
        self.options = options_with({name: value for name, value in options.items() if name != "tell"})

    def compiled(self, model: Any) -> Any:
        """A model that was read, for the CPU."""
        compiled = self.core.compile_model(model, "CPU", self.options)
        if self.tells:
            for node in compiled.get_runtime_model().get_ops():
                said = node.get_rt_info()
                names = [str(said[name].value) for name in ("layerType", "primitiveType", "runtimePrecision")]
                print(TOLD, *names, sep=",", flush=True)
        return compiled

    def versions(self) -> dict[str, str]:
        return {"openvino": self.openvino.__version__.split("-")[0]}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            model = self.core.read_model(artefact)
        work.enter("compile")
        with work.library():
            compiled = self.compiled(model)
            names = {name for given in compiled.inputs for name in given.names}
        work.enter("run")
        for given in named_runs(work, names):
            with work.library():
                results = compiled({name: self.tensor(array) for name, array in given.items()})
                values = [(output.element_type.to_string(), results[output]) for output in compiled.outputs]
        return [wire_of(*each) for each in values]

    def tensor(self, array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            return self.openvino.Tensor(array.view("uint16"), list(array.shape), self.openvino.Type.bf16)
        return array


def wire_of(kind: str, value: Any) -> WireTensor:
    """An output of that element type as it goes to the parent."""
    return to_wire(value, "bfloat16" if kind == "bf16" else "")
