"""ONNX Runtime: reads the ONNX file of tf2onnx or of torch.onnx."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cometfuzz.compat import zip_strictly
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Switch, Work, libraries
from cometfuzz.routes.handing import runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_GROUP = Group("onnxruntime", "main", QUIET)
_STAGES = (Stage("load", libraries.ONNXRUNTIME), Stage("run", libraries.ONNXRUNTIME))
_READERS = "cometfuzz.triage.scripts.readers"
STEP = Step(
    *("onnxruntime", _GROUP, __name__, "run", _STAGES, {"optimise": "all"}),
    reader=f"{_READERS}:onnxruntime",
    cpu_s=0.01,
    tells=True,
)
_PLAIN = replace(STEP, name="onnxruntime-noopt", options={"optimise": "none"}, reader=f"{_READERS}:plain_onnxruntime")
_LEVELS = {"none": "plain", "basic": "basic", "extended": "extended", "layout": "layout"}
SWITCHES = (
    *(
        Switch(
            f"level-{level}",
            f"at optimisation level {level}",
            libraries.ONNXRUNTIME,
            options={"optimise": level},
            reader=f"{_READERS}:{reader}_onnxruntime",
            ladder="optimisation level",
        )
        for level, reader in _LEVELS.items()
    ),
    Switch(
        "two-threads",
        "on two threads",
        libraries.ONNXRUNTIME,
        options={"threads": "2"},
        reader=f"{_READERS}:threaded_onnxruntime",
    ),
)
ONNXRUNTIME = Route(
    "onnxruntime", "keras-tf > tf2onnx > ONNX Runtime", "keras3", (*STEPS, STEP), clear=True, switches=SWITCHES
)
ONNXRUNTIME_NOOPT = Route(
    "onnxruntime-noopt",
    "keras-tf > tf2onnx > ONNX Runtime without optimisations",
    "keras3",
    (*STEPS, _PLAIN),
    fuses=False,
)


def start(options: Mapping[str, str]) -> RuntimeAdapter:
    """Import ONNX Runtime."""
    import onnxruntime

    return RuntimeAdapter(onnxruntime, options["optimise"], int(options.get("threads", "1")), "tell" in options)


class RuntimeAdapter:
    """Runs ONNX files on the CPU. tells: with the log in which it says how it changes the graph."""

    def __init__(self, onnxruntime: Any, optimise: str, threads: int, tells: bool = False) -> None:
        self.runtime, self.threads, self.tells = onnxruntime, threads, tells
        level = "ORT_DISABLE_ALL" if optimise == "none" else f"ORT_ENABLE_{optimise.upper()}"
        self.level = getattr(onnxruntime.GraphOptimizationLevel, level)
        onnxruntime.set_default_logger_severity(4)

    def versions(self) -> dict[str, str]:
        return {"onnxruntime": self.runtime.__version__}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            options = self.runtime.SessionOptions()
            options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
            options.use_deterministic_compute = True
            options.enable_cpu_mem_arena = False  # memory from malloc, which fills it (`execution.memory`)
            options.graph_optimization_level = self.level
            if self.tells:
                options.log_severity_level = _INFORMATION
            session = self.runtime.InferenceSession(artefact, options, providers=["CPUExecutionProvider"])
            taken = {given.name for given in session.get_inputs()}
            names = [output.name for output in session.get_outputs()]
        work.enter("run")
        for given in named_runs(work, taken):
            with work.library():
                values = session.run_with_ort_values(names, {name: self._value(array) for name, array in given.items()})
                arrays = [_numpy(value) for value in values]
        return [to_wire(array, dtype) for array, dtype in arrays]

    def _value(self, array: Any) -> Any:
        make = self.runtime.OrtValue
        if array.dtype.name == "bfloat16":
            if not hasattr(make, "ortvalue_from_numpy_with_onnx_type"):
                raise NotImplementedError("this release takes no bfloat16 from Python")
            return make.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), BFLOAT16)
        return make.ortvalue_from_numpy(array)


BFLOAT16 = 16
"""ONNX's number for it."""

_INFORMATION = 1
"""A severity of the log."""


def _numpy(value: Any) -> tuple[Any, str]:
    """The runtime makes no numpy array of bfloat16, so its bits are read from where they are."""
    if not hasattr(value, "element_type"):  # an older release
        if value.data_type() == "tensor(bfloat16)":
            raise NotImplementedError("this release gives no bfloat16 to Python")
    elif value.element_type() == BFLOAT16:
        bits = ctypes.string_at(value.data_ptr(), 2 * math.prod(value.shape()))
        return np.frombuffer(bits, np.uint16).reshape(value.shape()), "bfloat16"
    return value.numpy(), ""


def named_runs(work: Work, taken: Sequence[str] | set[str]) -> Iterator[dict[str, Any]]:
    """The inputs of each run by name, without those that the converter has dropped because nothing reads them."""
    names = [node.id for node in work.graph.inputs]
    for arrays in runs(work):
        yield {name: array for name, array in zip_strictly(names, arrays) if name in taken}
