"""Contradiction: two answers that must agree, whatever the right one is, held against each other.

Each element must be of the same kind in both (NaN, Inf, -Inf or a number), whatever the rules for special values say of
it. Numbers may be apart as far as rounding can carry a right answer. Where rounding decides of what kind an element is,
it is no evidence.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import Array, Data, draw_data
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Edge
from cometfuzz.ir.types import FLOATS
from cometfuzz.oracles.local import margin_of
from cometfuzz.reference.bound import RELATIVE_FACTOR, Expected, expect
from cometfuzz.reference.call import Freedom, Judging
from cometfuzz.reference.run import Run, largest, roundoff, run, smallest

RUNS, FARTHER = 4, 4.0
"""How many perturbed runs tell whether rounding decides of what kind an element is, and how many roundoffs they go."""


class Answers:
    """A case, and what its answers allow: worked out by the reference, when it is first needed."""

    def __init__(self, case: Case) -> None:
        self.case, self.graph = case, case.graph

    @cached_property
    def data(self) -> Data:
        return draw_data(self.case)

    @cached_property
    def reference(self) -> Run:
        return run(self.graph, self.data)

    @cached_property
    def expected(self) -> Mapping[Edge, Expected]:
        return expect(self.graph, self.data)

    @cached_property
    def margin(self) -> float:
        return margin_of(self.data.inputs.values())

    def bound(self, edge: Edge) -> Array:
        """How far two right answers may be apart; no bound where an element is tied, or near the end of the range."""
        expected = self.expected[edge]
        bound = self.margin * (0.0 if expected.bound is None else expected.bound) + np.zeros(expected.value.shape)
        tied = expected.tied if expected.tied is not None else np.zeros(bound.shape, dtype=bool)
        return np.where(tied | expected.range_limited, np.inf, bound)

    @cached_property
    def uncertain(self) -> Mapping[Edge, Array]:
        """The elements of which rounding decides whether they are NaN, Inf or a number.

        Near the end of the range, or near a step of the layer, these are all of them; and where a layer computes
        weights, of which one that should be 0 may be 1e-8 and make NaN of an Inf.
        """
        dtypes = {kind.dtype for node in self.graph.nodes for kind in node.outputs if kind.dtype in FLOATS}
        unit, least = (max(map(of, dtypes), default=0.0) for of in (roundoff, smallest))
        draws = [Draw("relation", index) for index in range(RUNS)]
        runs = [run(self.graph, self.data, Judging(FARTHER * unit, least, draw)) for draw in draws]
        peak = max([*self.reference.peaks.values(), *map(_peak, self.reference.values.values())])
        near = peak > min(map(largest, dtypes), default=np.inf) / 8
        near |= Freedom.WEIGHT in self.reference.freedoms
        near |= any(_crosses(each.steps[at][1], step) for each in runs for at, (_, step) in enumerate(self._steps))
        return {edge: self._other_kinds(edge, runs) | near for edge in self.graph.outputs}

    @property
    def _steps(self) -> Iterable[tuple[str, Array]]:
        return self.reference.steps

    def _other_kinds(self, edge: Edge, runs: Iterable[Run]) -> Array:
        kinds = kinds_of(self.reference.values[edge])
        changed = np.zeros(kinds.shape, dtype=bool)
        for each in runs:
            changed |= kinds_of(each.values[edge]) != kinds
        return changed


def _peak(value: Array) -> float:
    wide = np.abs(value.astype(np.float64))
    return float(np.max(wide, initial=0.0, where=np.isfinite(wide)))


def _crosses(one: Array, two: Array) -> bool:
    """Whether rounding carries an element to the other side of a step."""
    return bool(((one > 0) != (two > 0)).any())


def kinds_of(value: Array) -> Array:
    """0 for a number, 1 for Inf, -1 for -Inf, 2 for NaN."""
    if value.dtype.kind in "biu":
        return np.zeros(value.shape, dtype=np.int8)
    wide = value.astype(np.float64)
    return np.where(np.isnan(wide), 2, np.where(np.isinf(wide), np.sign(wide), 0)).astype(np.int8)


def contradiction(
    answers: Answers, edge: Edge, index: Any, first: Array, second: Array, slack: Array | float = 0.0
) -> str:
    """How the second answer contradicts the first, of which it must be the part or the order that `index` names.

    slack: how much farther from it than rounding explains it may be.
    """
    want = first[index]
    if (want.shape, want.dtype) != (second.shape, second.dtype):
        texts = [f"{array.dtype.name}{list(array.shape)}" for array in (want, second)]
        return f"expected {texts[0]}; received {texts[1]}"
    if want.dtype.kind in "biu":
        other = want != second
        return _told(other & np.isfinite(answers.bound(edge)[index]), want, second) if other.any() else ""
    wide, seen = want.astype(np.float64), second.astype(np.float64)
    other = kinds_of(want) != kinds_of(second)
    if other.any():
        text = _told(other & ~answers.uncertain[edge][index], wide, seen)
        if text:
            return text
    dtype = answers.graph.type_of(edge).dtype
    with np.errstate(all="ignore"):
        apart = np.where((kinds_of(want) == 0) & (kinds_of(second) == 0), np.abs(wide - seen), 0.0)
        far = apart > RELATIVE_FACTOR * roundoff(dtype) * np.abs(wide) + smallest(dtype)
    if not far.any():  # whatever the bound, which takes a dozen runs
        return ""
    return _told(far & (apart > answers.bound(edge)[index] + slack), wide, seen)


def distance(answers: Answers, edge: Edge, index: Any, first: Array, second: Array) -> float:
    """How far two answers are apart, in units of what is allowed, over all elements that are numbers in both."""
    wide, seen = first[index].astype(np.float64), second.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.where(wide == seen, 0.0, np.abs(wide - seen) / answers.bound(edge)[index])
    return float(np.max(apart, initial=0.0, where=np.isfinite(apart)))


def _told(wrong: Array, want: Array, seen: Array) -> str:
    count = int(wrong.sum())
    if not count:
        return ""
    at = tuple(int(place) for place in np.argwhere(wrong)[0])
    text = f"{count} of {seen.size} elements contradict, the first at {list(at)}"
    return f"{text}: expected {want[at]:.9g}, as before; received {seen[at]:.9g}"
