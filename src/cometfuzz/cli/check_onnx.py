"""`cometfuzz check FILE.onnx`: do all readers of an ONNX file give one answer?"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from cometfuzz.catalogue.data import Array, Data
from cometfuzz.cli.progress import working
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase, WorkerFailure
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.graph import INPUT, Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.oracles.checking import Answer
from cometfuzz.oracles.checking_files import judge_readers
from cometfuzz.reading import read_regular
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes import Route
from cometfuzz.routes.onnx_given import DESCRIBED
from cometfuzz.triage.advice import Advice

MAX_FILE = 256 * 2**20
MAX_ELEMENTS = 2**24
"""How large an input may be that we draw."""

OPEN = 2
"""The size of axes that a file leaves open, unless it is said."""

BELOW = 2
"""Integers are drawn below this: most are indices, and every table has two rows."""

DTYPES: Mapping[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "bool": np.bool_,
    **{name: np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
}
"""ONNX' names of the dtypes that we draw."""


@dataclass(frozen=True)
class CheckedFile:
    """All that the answer is made of, as `check` prints it."""

    answers: Sequence[Answer]
    inputs: Mapping[str, TensorType]
    opened: Mapping[str, int]
    objection: str
    seed: int

    @property
    def advice(self) -> Mapping[str, Advice]:
        """Of a file nobody knows the layers, so there is none."""
        return {}

    @property
    def notes(self) -> list[str]:
        """Which sizes were chosen."""
        sizes = ", ".join(f"{name}={size}" for name, size in self.opened.items())
        return [f"The file leaves sizes open, which were taken as {sizes} (see --open-size)."] if sizes else []

    @property
    def warnings(self) -> list[str]:
        """What makes the answer worth less than it seems."""
        return [f"onnx's checker does not take the file: {self.objection}"] if self.objection else []

    @property
    def plain(self) -> dict[str, Any]:
        """What is told of the inputs in JSON."""
        kinds = {name: {"dtype": kind.dtype, "shape": list(kind.shape)} for name, kind in self.inputs.items()}
        return {"judged_by": "readers", "inputs": {"seed": self.seed, "drawn": kinds, "open": dict(self.opened)}}


def check_file(
    path: Path, routes: Sequence[Route], open_size: int | None, seed: int, limits: WorkerLimits, quiet: bool
) -> CheckedFile:
    """Run a file on readers, on inputs that are drawn as it declares them."""
    content = read_regular(path, MAX_FILE, InvalidCase)
    with (
        working("checking", quiet=quiet) as tell,
        Executor([DESCRIBED, *routes], limits=limits, pause_after=0, watch=tell) as executor,
    ):
        told = _described(path, executor.run_given(content, Graph((), ()), Data({}, {}), [DESCRIBED])[DESCRIBED.name])
        kinds, opened = _kinds(path, told["inputs"], OPEN if open_size is None else open_size)
        nodes = [Node(name, INPUT, Params(), (), (kind,)) for name, kind in kinds.items()]
        data = {name: _drawn(Draw(seed, name), kind) for name, kind in kinds.items()}
        tell(f"running on {plural(len(routes), 'reader')}")
        outcomes = executor.run_given(content, Graph(tuple(nodes), ()), Data(data, {}), routes)
    return CheckedFile(judge_readers(kinds, outcomes), kinds, opened, str(told["objection"]), seed)


def _described(path: Path, outcome: Outcome) -> Any:
    if outcome.status == "unavailable":
        raise WorkerFailure(str(outcome))
    if outcome.status != "completed":
        raise InvalidCase(
            f"{path}: expected an ONNX file; received what onnx does not read: {clean(str(outcome))[:160]}"
        )
    told = json.loads(outcome.outputs[0].data)
    if told["external"]:
        raise InvalidCase(
            f"{path}: expected a file that holds all of its tensors; received external data, which is never opened: "
            "save it whole, with onnx.save(model, path)"
        )
    return told


def _kinds(path: Path, given: Sequence[Any], open_size: int) -> tuple[dict[str, TensorType], dict[str, int]]:
    """The types of what is fed, and the open sizes as they were taken."""
    kinds: dict[str, TensorType] = {}
    opened: dict[str, int] = {}
    for name, dtype, sizes in given:
        if dtype not in DTYPES or sizes is None:
            what = dtype if dtype not in DTYPES else "no shape"
            raise InvalidCase(
                f"{path}: expected inputs that are tensors of numbers or booleans, with as many axes as they have; "
                f"received {clean(name)[:60]!r} with {clean(what)[:40]}"
            )
        shape = []
        for axis, size in enumerate(sizes):
            if not isinstance(size, int):
                opened[clean(size or f"{name}[{axis}]")[:60]] = open_size
                size = open_size
            shape.append(size)
        if min(shape, default=0) < 0 or math.prod(shape) > MAX_ELEMENTS or len(shape) > 32:
            raise InvalidCase(
                f"{path}: expected an input of at most {MAX_ELEMENTS} elements; received shape={shape[:9]}"
            )
        kinds[name] = TensorType(np.dtype(DTYPES[dtype]).name, tuple(shape))
    return kinds, opened


def _drawn(draw: Draw, kind: TensorType) -> Array:
    dtype = np.dtype(ml_dtypes.bfloat16 if kind.dtype == "bfloat16" else kind.dtype)
    if kind.dtype == "bool":
        return draw.uniforms(kind.shape) < 0.5
    if dtype.kind in "iu":
        return np.floor(draw.uniforms(kind.shape) * BELOW).astype(dtype)
    return draw.bells(kind.shape).astype(dtype)
