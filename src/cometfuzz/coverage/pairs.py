"""Pairs: which values of two factors of a layer call have been executed together.

When every value has been seen by itself, defects that need two are left: a padding with a stride, a dtype with a rank,
NaN with an activation. The factors of a call are its dtype, rank and kind of shape, every parameter that shows in a
forward pass, how a window lies on its input, and the regime of its data. Numbers count by class. A pair is a number, so
that the coverage of a route is a row of bytes: there are several times ten thousand of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.regimes import ORDINARY, REGIMES, regime_of
from cometfuzz.catalogue.spaces import Floats, Ints, Optional, PerAxis, Space
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.coverage.layers import text
from cometfuzz.coverage.reach import idle_parameters
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Graph, Inner, Node, Params
from cometfuzz.ir.types import POLICY, TensorType

Ids = NDArray[np.int64]

DTYPE, RANK, SHAPE, DATA = "dtype", "rank", "shape", "data"
WINDOW, STEP = "window to size", "stride to window"
SHAPES = ("empty", "with ones", "in blocks of 16", "even", "odd")
RELATIONS = ("smaller", "equal", "larger")
INTEGERS = ("0", "1", "2", "even", "odd", "negative")
MIXED, NONE = "different", "none"
PAIRS = "pairs"
GIVEN_UP_AFTER = 2
"""So many searches without a valid call, or models that failed, and a pair is taken for one that cannot be."""

LISTED = 12
"""Choices with more values than this are counted by class, like numbers: each value is covered by itself anyway."""


class Factor(NamedTuple):
    """Something that a call chooses, and what it may be."""

    name: str
    values: tuple[str, ...]


class Pair(NamedTuple):
    """Values of two factors of a layer."""

    layer: str
    first: str
    first_value: str
    second: str
    second_value: str


@dataclass(frozen=True)
class Table:
    """The pairs of one layer: where they begin in the space, and where those of two factors begin in it."""

    spec: LayerSpec
    factors: tuple[Factor, ...]
    start: int
    offsets: Sequence[tuple[int, int, int]]
    """For each two factors: their places, and where their pairs begin."""
    stop: int


class PairSpace:
    """All pairs of all layers, each with a number."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        start = 0
        for name, spec in LAYERS.items():
            factors = tuple(_factors(spec))
            offsets, at = [], start
            for one, two in combinations(range(len(factors)), 2):
                offsets.append((one, two, at))
                at += len(factors[one].values) * len(factors[two].values)
            self.tables[name] = Table(spec, factors, start, tuple(offsets), at)
            start = at
        self.total = start

    def pair(self, layer: str, number: int) -> Pair:
        """The pair of a number."""
        table = self.tables[layer]
        one, two, start = next(each for each in reversed(table.offsets) if each[2] <= number)
        first, second = table.factors[one], table.factors[two]
        row, column = divmod(number - start, len(second.values))
        return Pair(layer, first.name, first.values[row], second.name, second.values[column])


@cache
def pair_space() -> PairSpace:
    """The space; it is made when somebody asks for the first time."""
    return PairSpace()


def _factors(spec: LayerSpec) -> Iterator[Factor]:
    yield Factor(DTYPE, spec.dtypes)
    yield Factor(RANK, tuple(map(str, spec.ranks)))
    yield Factor(SHAPE, SHAPES)
    yield Factor(DATA, REGIMES)
    if _window_name(spec) is not None:
        yield Factor(WINDOW, RELATIONS)
        if "strides" in spec.params:
            yield Factor(STEP, RELATIONS)
    for name, space in spec.params.items():
        if space.effect == "forward":
            values = _values(space)
            if len(values) > 1:
                yield Factor(name, values)


def _window_name(spec: LayerSpec) -> str | None:
    return next((name for name in ("kernel_size", "pool_size") if name in spec.params), None)


def _values(space: Space) -> tuple[str, ...]:
    if isinstance(space, Optional):
        return tuple(dict.fromkeys((NONE, *_values(space.inner))))
    options = space.options()
    if options is not None and len(options) <= LISTED and not space.numeric:
        return tuple(dict.fromkeys(text(option) for option in options))
    if options is not None:
        return tuple(dict.fromkeys(class_of(option) for option in options))
    if isinstance(space, PerAxis):
        return (*_values(space.each), *((MIXED,) if space.axes > 1 else ()))
    if isinstance(space, Ints):
        return tuple(dict.fromkeys(map(class_of, (*range(space.low, space.high + 1), *space.rare))))
    if isinstance(space, Floats):
        grid = (space.low, space.high, 0.0, 0.5, 1.0, 1.5, (space.low + space.high) / 2)
        return tuple(dict.fromkeys(class_of(float(each)) for each in grid if space.low <= each <= space.high))
    return INTEGERS if type(space.simplest) is int else ()


def class_of(value: Any) -> str:
    """The class that a value counts as."""
    if value is None:
        return NONE
    if isinstance(value, Inner):
        return text(value.layer)
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return class_of(value[0]) if len(set(value)) == 1 else MIXED
    if type(value) is int:
        return "negative" if value < 0 else str(value) if value < 3 else ("odd" if value % 2 else "even")
    if type(value) is float:
        return "negative" if value < 0 else f"{value:.0f}" if value in (0, 1) else "below 1" if value < 1 else "above 1"
    return text(value)


def value_of(factor: Factor, value: Any) -> str:
    """The name of a parameter's value among those of its factor: as it is, or its class."""
    named = text(value.layer) if isinstance(value, Inner) else text(value)
    return named if named in factor.values else class_of(value)


@lru_cache(maxsize=10_000)
def call_pairs(layer: str, params: Params, types: tuple[TensorType, ...], regime: str | None) -> Ids:
    """The numbers of the pairs that a call has; without a regime, those that say nothing of data."""
    table = pair_space().tables[layer]
    spec = table.spec
    first = spec.cast(types, params)[0]
    given = {DTYPE: first.dtype, RANK: str(first.rank), SHAPE: _shape(first), **_relations(spec, first, params)}
    if regime is not None:
        given[DATA] = regime
    idle = idle_parameters(spec, types, params)
    places: list[int | None] = []
    for factor in table.factors:
        name = given.get(factor.name)
        if name is None and factor.name in params and factor.name not in idle and factor.name != POLICY:
            name = value_of(factor, params[factor.name])
        places.append(factor.values.index(name) if name in factor.values else None)
    found = []
    for one, two, start in table.offsets:
        row, column = places[one], places[two]
        if row is not None and column is not None:
            found.append(start + row * len(table.factors[two].values) + column)
    return np.array(found, np.int64)


def _shape(kind: TensorType) -> str:
    sizes = kind.shape[1:] or kind.shape
    if 0 in kind.shape:
        return SHAPES[0]
    if 1 in sizes:
        return SHAPES[1]
    if any(size % 16 == 0 for size in sizes):
        return SHAPES[2]
    return SHAPES[3] if sizes[-1] % 2 == 0 else SHAPES[4]


def _relations(spec: LayerSpec, first: TensorType, params: Params) -> dict[str, str]:
    """How a window lies on its input, and the steps between two of them: along the first axis that it has."""
    name = _window_name(spec)
    if name is None or name not in params:
        return {}
    window = _number(params[name])
    channels_first = params.get("data_format") == "channels_first"
    place = 2 if channels_first else 1
    found = {}
    if window is not None and first.rank > place:
        found[WINDOW] = _relation(window, first.shape[place])
        stride = _number(params.get("strides"))
        if stride is not None:
            found[STEP] = _relation(stride, window)
    return found


def _number(value: Any) -> int | None:
    first = value[0] if isinstance(value, tuple) and value else value
    return first if type(first) is int else None


def _relation(one: int, two: int) -> str:
    return RELATIONS[0] if one < two else RELATIONS[1] if one == two else RELATIONS[2]


class PairCoverage:
    """Which pairs have executed, and how often one that was gone for could not be planned, or failed."""

    def __init__(self) -> None:
        self.space = pair_space()
        self.covered = np.zeros(self.space.total, np.bool_)
        self.failures = np.zeros(self.space.total, np.uint8)

    def summary(self) -> dict[str, int]:
        """Covered, total and reachable, as of other criteria; what was given up is taken for out of reach."""
        lost = int((~self.covered & (self.failures >= GIVEN_UP_AFTER)).sum())
        return {"covered": int(self.covered.sum()), "total": self.space.total, "reachable": self.space.total - lost}

    def gain(self, ids: Ids) -> int:
        """How many of some pairs would be new."""
        return int(len(ids) - self.covered[ids].sum())

    def wants(self, ids: Ids) -> bool:
        """Whether some of these pairs are new and worth a try."""
        return bool((~self.covered[ids] & (self.failures[ids] < GIVEN_UP_AFTER)).any())

    def learn(self, case: Case, executed: bool) -> None:
        """Count what a case has executed, or that it failed."""
        for _, ids in pairs_of(case):
            if executed:
                self.covered[ids] = True
            else:
                self.fail(ids)

    def fail(self, ids: Ids) -> None:
        """Count that pairs were not to be had."""
        self.failures[ids] += self.failures[ids] < GIVEN_UP_AFTER

    def missing(self, layer: str) -> Ids:
        """The pairs of a layer that have not executed and are not given up."""
        table = self.space.tables[layer]
        part = slice(table.start, table.stop)
        return np.flatnonzero(~self.covered[part] & (self.failures[part] < GIVEN_UP_AFTER)) + table.start


def pairs_of(case: Case) -> Iterator[tuple[str, Ids]]:
    """The pairs of every call of a case, with the node.

    Of the data of a node that reads no input of the model, nothing is said where some input is odd.
    """
    graph, tables = case.graph, pair_space().tables
    inputs = {node.id for node in graph.inputs}
    regimes = {name: regime_of(tensor) for name, tensor in case.data.items() if name in inputs}
    for node in graph.nodes:
        if node.layer in tables:
            regime = _regime(graph, node, regimes)
            yield node.id, call_pairs(node.layer, node.params, graph.input_types(node), regime)


def _regime(graph: Graph, node: Node, regimes: dict[str, str]) -> str | None:
    if not regimes:
        return ORDINARY
    source = node.inputs[0].node if node.inputs else ""
    read = source in graph.by_id and graph.by_id[source].layer == INPUT
    return regimes.get(source, ORDINARY) if read else None
