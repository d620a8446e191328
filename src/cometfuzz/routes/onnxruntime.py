"""ONNX Runtime: reads the ONNX file of tf2onnx or of torch.onnx."""

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.tensors import to_array, to_wire
from cometfuzz.routes.tf2onnx import STEPS

_GROUP = Group("onnxruntime", "main", QUIET)
_STAGES = (Stage("load", "onnxruntime"), Stage("run", "onnxruntime"))
STEP = Step("onnxruntime", _GROUP, __name__, "run", _STAGES, {"optimise": "all"})
_PLAIN = Step("onnxruntime-noopt", _GROUP, __name__, "run", _STAGES, {"optimise": "none"})
ONNXRUNTIME = Route("onnxruntime", "keras-tf > tf2onnx > ONNX Runtime", "keras3", (*STEPS, STEP))
ONNXRUNTIME_NOOPT = Route(
    "onnxruntime-noopt", "keras-tf > tf2onnx > ONNX Runtime without optimisations", "keras3", (*STEPS, _PLAIN)
)


def start(options: Mapping[str, str]) -> "RuntimeSession":
    """Import ONNX Runtime."""
    import onnxruntime

    return RuntimeSession(onnxruntime, options["optimise"])


class RuntimeSession:
    """Runs ONNX files on the CPU, on one thread."""

    def __init__(self, onnxruntime: Any, optimise: str) -> None:
        self.runtime = onnxruntime
        levels = onnxruntime.GraphOptimizationLevel
        self.level = levels.ORT_ENABLE_ALL if optimise == "all" else levels.ORT_DISABLE_ALL
        onnxruntime.set_default_logger_severity(4)

    def versions(self) -> dict[str, str]:
        return {"onnxruntime": self.runtime.__version__}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            options = self.runtime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.use_deterministic_compute = True
            options.graph_optimization_level = self.level
            session = self.runtime.InferenceSession(artefact, options, providers=["CPUExecutionProvider"])
            taken = {given.name for given in session.get_inputs()}
            names = [output.name for output in session.get_outputs()]
        work.enter("run")
        given = named_inputs(work, taken)
        with work.library():
            values = session.run_with_ort_values(names, {name: self._value(array) for name, array in given.items()})
            arrays = [_numpy(value) for value in values]
        return [to_wire(array, dtype) for array, dtype in arrays]

    def _value(self, array: Any) -> Any:
        make = self.runtime.OrtValue
        if array.dtype.name == "bfloat16":
            return make.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), BFLOAT16)
        return make.ortvalue_from_numpy(array)


BFLOAT16 = 16
"""ONNX's number for it."""


def _numpy(value: Any) -> tuple[Any, str]:
    """The runtime makes no numpy array of bfloat16, so its bits are read from where they are."""
    if value.element_type() == BFLOAT16:
        bits = ctypes.string_at(value.data_ptr(), 2 * math.prod(value.shape()))
        return np.frombuffer(bits, np.uint16).reshape(value.shape()), "bfloat16"
    return value.numpy(), ""


def named_inputs(work: Work, taken: Sequence[str] | set[str]) -> dict[str, Any]:
    """The inputs by name, without those that the converter has dropped because nothing reads them."""
    names = [node.id for node in work.graph.inputs]
    return {name: to_array(tensor) for name, tensor in zip(names, work.inputs, strict=True) if name in taken}
