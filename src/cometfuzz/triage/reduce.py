"""Reduce: the smallest case that still shows the same. Passes propose, the driver owns the order and the predicate.

As in Hypothesis: a total order, a list of passes, a memo of what was tried. A candidate is taken if it is smaller and
shows the target. Bounded in steps, which makes it deterministic, and in time, which cuts it short.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import expected_tensors
from cometfuzz.catalogue.manners import manner_size
from cometfuzz.catalogue.spaces import InnerLayer
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT, Inner, Node
from cometfuzz.ir.types import POLICY
from cometfuzz.oracles.finding import Finding
from cometfuzz.triage.confirm import Probe
from cometfuzz.triage.editing import Workpiece
from cometfuzz.triage.passes import PASSES, USUAL_LAYER, tensor_of

Size = tuple[int, int, int, int, int, float, float]
EMPTY_AXIS = 8
"""What an axis of size 0 counts as: it is odder than a short one."""

MANY = 4096
"""Of larger tensors nobody looks at the digits."""


@dataclass(frozen=True)
class Effort:
    """How much a reduction may cost: questions to the libraries, and seconds."""

    steps: int = 250
    wall_s: float = 45.0


@dataclass(frozen=True)
class Reduced:
    """The smallest case that was found, the finding in it, and whether time or steps ran out before the end."""

    case: Case
    finding: Finding
    steps: int
    cut_short: str


def size_of(case: Case) -> Size:
    """The total order: what is odd in the manner, nodes, edges, elements, distance of the parameters from the simplest
    ones, digits of the data.

    With as many edges, plain layers go before others, and these before wrappers. Elements are those of the inputs: a
    simpler parameter often means a larger output or one more weight.
    """
    piece, graph = Workpiece(case), case.graph
    nodes = sum(node.layer != INPUT for node in graph.nodes)
    edges = sum(len(node.inputs) for node in graph.nodes) + len(graph.outputs) + len(graph.inputs)
    shapes = [node.outputs[0].shape for node in graph.inputs]
    elements = sum(len(shape) + math.prod(size or EMPTY_AXIS for size in shape) for shape in shapes)
    oddness = sum(map(_oddness, graph.nodes))
    digits = sum(_digits(piece, key) for key in expected_tensors(graph))
    return manner_size(case.manner), nodes, edges, oddness, elements, sum(map(_distance_of, graph.nodes)), digits


def _oddness(node: Node) -> int:
    if node.layer in (INPUT, USUAL_LAYER):
        return 0
    inner = any(isinstance(space, InnerLayer) for space in CATALOGUE[node.layer].params.values())
    return 1 if node.layer == "Activation" else 3 if inner else 2


def _distance_of(node: Node) -> float:
    if node.layer == INPUT:
        return float(node.params.dtype != "float32") + float(node.params.zero_steps)
    plain = CATALOGUE[node.layer].complete({})
    odd = 1.0 if POLICY in node.params else 0.0  # a policy is odder than an input of another dtype
    return odd + sum(distance(value, plain.get(name)) for name, value in node.params.items())


def distance(value: Any, simplest: Any) -> float:
    """How far a parameter is from its simplest value: 0 if it is that, else from 1 on."""
    if repr(value) == repr(simplest):
        return 0.0
    if isinstance(value, Inner):
        plain = CATALOGUE[value.layer].complete({})
        return 3.0 + sum(distance(each, plain.get(name)) for name, each in value.params.items())
    if isinstance(value, tuple):
        pairs = simplest if isinstance(simplest, tuple) and len(simplest) == len(value) else (None,) * len(value)
        return 1.0 + sum(distance(one, other) for one, other in zip(value, pairs, strict=True)) / 4
    if isinstance(value, int | float) and not isinstance(value, bool):
        other = simplest if isinstance(simplest, int | float) else 0
        return 1.0 + min(abs(value - other), 1000.0) / 2000 + len(repr(value)) / 100
    return 1.0


def _digits(piece: Workpiece, key: str) -> float:
    """How much there is to read in a tensor: nothing in zeros, little in ones, then by the digit."""
    array = tensor_of(piece, key)
    if array.size > MANY:
        return 20.0 * array.size
    values, counts = np.unique(array.astype(np.float64), return_counts=True)
    signed = int(np.signbit(array[array == 0]).sum()) if array.dtype.kind not in "biu" else 0  # -0.0 is odder than 0
    return float(signed + sum(_length(float(value)) * int(count) for value, count in zip(values, counts, strict=True)))


def _length(value: float) -> float:
    if value == 0:
        return 0.0
    return 1.0 if value == 1 else 1.0 + len(f"{value:.9g}".strip("-"))


class Reducer:
    """Makes a case smaller as long as a probe finds the target in it."""

    def __init__(self, probe: Probe, effort: Effort, report: Callable[[Case], None] = lambda case: None) -> None:
        self.probe, self.effort, self.report = probe, effort, report
        self.cut_short = ""
        self._tried: dict[str, Finding | None] = {}
        self._until = time.monotonic() + effort.wall_s

    def show(self, case: Case) -> Finding | None:
        """The finding, if it shows in a case; nothing is asked twice."""
        name = case_id(case)
        if name not in self._tried:
            self._tried[name] = self.probe.find(case)
        return self._tried[name]

    @property
    def exhausted(self) -> bool:
        """Whether there are no steps or no seconds left; then `cut_short` says which."""
        if self.probe.steps >= self.effort.steps:
            self.cut_short = f"after {self.effort.steps} steps"
        elif time.monotonic() > self._until:
            self.cut_short = f"after {self.effort.wall_s:g} s"
        return bool(self.cut_short)

    def reduce(self, case: Case, finding: Finding) -> Reduced:
        """Round after round over all passes, until one changes nothing."""
        self._tried[case_id(case)] = finding
        best, size = case, size_of(case)
        progress = True
        while progress and not self.exhausted:
            progress = False
            for propose in PASSES:
                while (smaller := self._first(propose(Workpiece(best)), size)) is not None:
                    best, size, progress = smaller, size_of(smaller), True
                    self.report(best)
        found = self._tried[case_id(best)]
        assert found is not None
        return Reduced(best, found, self.probe.steps, self.cut_short)

    def _first(self, candidates: Iterator[Case | None], size: Size) -> Case | None:
        for candidate in candidates:
            if self.exhausted:
                return None
            if candidate is not None and size_of(candidate) < size and self.show(candidate) is not None:
                return candidate
        return None
