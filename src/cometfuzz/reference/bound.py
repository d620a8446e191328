"""How far a library's value may be from the reference's, and the judgement of a value by it.

|y - ref| <= 4 * max over the tensor of the span of 8 perturbed runs + 4 u |ref| + 4 * smallest number

Where rounding decides between far results (the largest of scores, say), that span tells little: if 4 more runs,
perturbed by 4 u, go farther than 4 times as far, their span takes its place.

No layer is known here by name: what is no evidence follows from what the meanings declared in the run (`call.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cometfuzz.catalogue.data import Data
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.call import Array, Freedom, Judging
from cometfuzz.reference.run import Run, largest, narrow, roundoff, run, smallest

SPAN_FACTOR, RELATIVE_FACTOR, SMALLEST_FACTOR = 4.0, 4.0, 4.0
PERTURBATIONS, FARTHER = 8, 4
SAFETY = 64.0
"""How much less than half of its digits a perturbation must move an element that is judged by itself: eight runs may
all miss what moves it most, and a sum strays farther than its terms do."""


@dataclass(frozen=True)
class Expected:
    """What one output should be: the reference, and how far a correct library may stray.

    No evidence: non-finite values and zeros if `range_limited`, and elements whose `tied` is true, because they are as
    near to a step as rounding can move them, or `_left_to_chance`. If `blurred`, NaN is none either: a sum that has an
    Inf in it is NaN as soon as a library adds a product with 0. An output without `bound` must match exactly,
    where it is not tied. relative: the share of a value that is allowed; 4 u if nothing is said.
    """

    dtype: str
    value: Array
    bound: Array | None = None
    range_limited: bool = False
    tied: Array | None = None
    blurred: bool = False
    relative: float | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a library's tensor is right, and if not, by how much it is beyond the bound."""

    ok: bool
    detail: str = ""
    worst: float = 0.0


def expect(graph: Graph, data: Data, seed: int = 0) -> dict[Edge, Expected]:
    """The expectation for every output of a graph that is short enough to be judged locally."""
    exact = run(graph, data)
    dtypes = {kind.dtype for node in graph.nodes for kind in node.outputs}
    unit, least = (max((of(dtype) for dtype in dtypes if dtype in FLOATS), default=0.0) for of in (roundoff, smallest))
    draws = [Draw("bound", seed, index) for index in range(PERTURBATIONS if unit else 0)]
    runs = [run(graph, data, Judging(unit, least, draw)) for draw in draws]
    draws = [Draw("bound", seed, "farther", index) for index in range(FARTHER if unit else 0)]
    farther = [run(graph, data, Judging(SPAN_FACTOR * unit, least, draw)) for draw in draws]
    given = _specials(data, exact)
    blurred = given.inf and Freedom.SUM in exact.freedoms
    anything = blurred and Freedom.COMPARISON in exact.freedoms  # what hides a NaN may make any number of it
    anything |= (given.inf or given.nan) and Freedom.WEIGHT in exact.freedoms
    expected: dict[Edge, Expected] = {}
    for edge in graph.outputs:
        dtype, value = graph.type_of(edge).dtype, exact.values[edge]
        tied = _tied(edge, exact, runs, unit)
        if dtype not in FLOATS:
            # What reads only what is given has nothing to excuse it.
            alone = all(each.node in {node.id for node in graph.inputs} for each in graph.by_id[edge.node].inputs)
            expected[edge] = Expected(dtype, value, tied=exact.undecided.get(edge) if alone else tied)
            continue
        near, far = ([value, *(other.values[edge] for other in others)] for others in (runs, farther))
        tied |= _left_to_chance(value, given) | _changes_kind([*near, *far])
        with np.errstate(over="ignore"):  # an infinite bound is one that nothing exceeds
            bound = (
                np.max(np.maximum(SPAN_FACTOR * _spans(near), _spans(far)), initial=0.0, where=~tied)
                + RELATIVE_FACTOR * roundoff(dtype) * np.abs(value)
                + SMALLEST_FACTOR * smallest(dtype)
            )
            reach = np.abs(value) + bound  # where rounding alone may leave the range, Inf is no evidence
        peak = max([*exact.peaks.values(), float(np.max(reach, initial=0.0, where=np.isfinite(value)))])
        tied |= max(exact.peaks.values(), default=0.0) > largest(dtype)  # an Inf on the way may become anything
        tied |= anything
        expected[edge] = Expected(dtype, value, bound, peak > largest(dtype) / 8, tied, blurred)
    return expected


def expect_strictly(graph: Graph, data: Data, seed: int = 0) -> dict[Edge, Expected]:
    """The same, with nothing excused: for what all other libraries do as the formula has it."""
    found = expect(graph, data, seed)
    return {edge: replace(one, tied=None, blurred=False, range_limited=False) for edge, one in found.items()}


def expect_digits(graph: Graph, data: Data, seed: int = 0) -> dict[Edge, Expected]:
    """What every element should be by itself: right in half of its digits, where its inputs determine these.

    The bound of `expect` is that of the largest element, and leaves room for roundings within a layer. Here an element
    is no evidence only if a perturbation of inputs and weights moves it by so much: a formula that loses the digits of
    a small result, which another formula keeps, is not excused. Nor are numbers near the smallest ones evidence, since
    what is multiplied on the way to them may be flushed to zero.
    """
    exact = run(graph, data)
    dtypes = {kind.dtype for node in graph.nodes for kind in node.outputs if kind.dtype in FLOATS}
    unit, least = (max(map(of, dtypes), default=0.0) for of in (roundoff, smallest))
    draws = [Draw("digits", seed, index) for index in range(PERTURBATIONS)]
    runs = [run(graph, data, Judging(unit, least, draw, within=False)) for draw in draws]
    given = _specials(data, exact)
    expected: dict[Edge, Expected] = {}
    for edge in graph.outputs:
        dtype, value = graph.type_of(edge).dtype, exact.values[edge]
        if dtype not in FLOATS or given.nan or given.inf or max(exact.peaks.values(), default=0.0) > largest(dtype) / 8:
            continue
        half, seen = math.sqrt(unit), [value, *(other.values[edge] for other in runs)]
        tied = _tied(edge, exact, runs, unit) | _changes_kind(seen) | ~np.isfinite(value)
        with np.errstate(all="ignore"):
            tied |= np.abs(value) <= least / half
            tied |= SAFETY * _spans(seen) >= half * np.abs(value)
            expected[edge] = Expected(dtype, value, half * np.abs(value), tied=tied, relative=half)
    return expected


class _Given(NamedTuple):
    """What non-finite values a graph is given, by its data or by nodes that put them in."""

    nan: bool
    inf: bool


def _specials(data: Data, exact: Run) -> _Given:
    arrays = [*data.inputs.values(), *(array for weights in data.weights.values() for array in weights.values())]
    wide = [array.astype(np.float64) for array in arrays] + [np.array(given) for given in exact.given.values()]
    return _Given(any(bool(np.isnan(a).any()) for a in wide), any(bool(np.isinf(a).any()) for a in wide))


def _left_to_chance(value: Array, given: _Given) -> Array:
    """The elements of which nobody can say what they must be.

    Of finite numbers that leave the range on the way, Inf or NaN may come, by the order of sums. Of an Inf, NaN comes
    only if a library multiplies it by 0, or subtracts one from another, as the formula has it; there are other ways.
    """
    if not given.nan and not given.inf:
        return ~np.isfinite(value)
    return np.isnan(value) & (not given.nan)


def _changes_kind(values: Sequence[Array]) -> Array:
    """The elements that are finite in some runs and not in others, or NaN in some and Inf in others."""
    finite, nan = np.isfinite(values), np.isnan(values)
    return np.asarray((finite != finite[0]).any(axis=0) | (nan != nan[0]).any(axis=0))


def _spans(values: Sequence[Array]) -> Array:
    """How far each element moves over several runs; 0 where it is not finite in all of them."""
    stack = np.stack(values)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(stack).all(axis=0), stack.max(axis=0) - stack.min(axis=0), 0.0)


def _tied(edge: Edge, exact: Run, runs: Sequence[Run], unit: float) -> Array:
    """The elements of an output that rounding may put on either side of a step.

    A step that lies elsewhere in the graph, or inside a recurrence, may change the whole output. What is undecided
    anyway is among them.
    """
    tied = np.zeros(exact.values[edge].shape, dtype=bool) | exact.undecided.get(edge, False)
    for index, (node, distance) in enumerate(exact.steps):
        span = np.max(_spans([distance, *(other.steps[index][1] for other in runs)]), initial=0.0)
        near = ~(np.abs(distance) > SPAN_FACTOR * span + RELATIVE_FACTOR * unit)  # NaN may be on either side
        if node == edge.node and near.shape == tied.shape:
            tied |= near
        elif near.any():
            tied[...] = True
    return tied


def plainly_right(value: Array, seen: Array, dtype: str) -> bool:
    """Whether an output is within the part of the bound that needs no perturbed runs; if so, `judge` would pass it."""
    if seen.shape != value.shape:
        return False
    if dtype not in FLOATS:
        return bool((seen == value).all())
    wide, narrowed = seen.astype(np.float64), narrow(value, dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        bound = RELATIVE_FACTOR * roundoff(dtype) * np.abs(value) + SMALLEST_FACTOR * smallest(dtype)
        near = np.isfinite(value) & (np.abs(wide - value) <= bound)
    return bool((near | (np.isnan(wide) & np.isnan(narrowed)) | (wide == narrowed)).all())


def lost_digits(value: Array, seen: Array, dtype: str, unit: float) -> Array:
    """The elements that seem to have lost half of their digits or more; `expect_digits` says if that is their fault."""
    if dtype not in FLOATS or seen.shape != value.shape:
        return np.zeros(value.shape, dtype=bool)
    half = math.sqrt(max(unit, roundoff(dtype)))
    with np.errstate(all="ignore"):
        off = np.abs(seen.astype(np.float64) - value)
        return (off > half * np.abs(value)) & (np.abs(value) > smallest(dtype) / half) & np.isfinite(off)


def judge(expected: Expected, seen: Array) -> Verdict:
    """Compare a library's output, in its real dtype, with what was expected."""
    if seen.shape != expected.value.shape:
        return Verdict(False, f"expected shape {list(expected.value.shape)}; received shape={list(seen.shape)}")
    if expected.bound is None:
        wrong = seen != expected.value
        if expected.tied is not None:
            wrong &= ~expected.tied
        count = int(wrong.sum())
        return Verdict(count == 0, f"{count} of {seen.size} elements differ" if count else "", float(count))
    wide, want = seen.astype(np.float64), expected.value
    narrowed = narrow(want, expected.dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        same = (np.isnan(wide) & np.isnan(narrowed)) | (wide == narrowed)
        if expected.blurred:
            same |= np.isnan(wide) | (np.isinf(wide) & ~np.isfinite(narrowed))
        near = np.isfinite(want) & (np.abs(wide - want) <= expected.bound)  # the bound of an Inf is an Inf
        excess = np.where(same | near, 0.0, np.abs(wide - want) / expected.bound)
    wrong = ~(same | near)
    if expected.range_limited:
        wrong &= np.isfinite(wide) & (wide != 0) & np.isfinite(narrowed)
    if expected.tied is not None:
        wrong &= ~expected.tied
    count = int(wrong.sum())
    if not count:
        return Verdict(True)
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    worst = float(np.max(np.where(wrong & np.isfinite(excess), excess, 0.0)))
    detail = f"{count} of {seen.size} elements differ, the first at {list(at)}: "
    within = f" within {np.broadcast_to(expected.bound, want.shape)[at]:.3g}" if np.isfinite(want[at]) else ""
    detail += f"expected {want[at]:.9g}{within}; received {wide[at]:.9g}"
    return Verdict(False, detail, worst)


def largest_excess(expected: Expected, seen: Array) -> float:
    """The largest difference in units of the bound, over all elements that are finite in both and not tied; of an exact
    one, how many elements differ."""
    if expected.bound is None:
        return float((seen != expected.value).sum())
    with np.errstate(all="ignore"):
        excess = np.abs(seen.astype(np.float64) - expected.value) / expected.bound
    evidence = np.isfinite(excess) if expected.tied is None else np.isfinite(excess) & ~expected.tied
    return float(np.max(excess, initial=0.0, where=evidence))
