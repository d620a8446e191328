"""Combinations: values of some factors of a layer call together, each with a number.

A space says which factors go together: any two of a layer (`pairs.py`), or three of a named group (`triples.py`). The
numbers of a layer stand in one row, those of the same factors in a block of it, in the order of their values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.regimes import ORDINARY, regime_of
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.coverage.factors import Factor, factors_of, values_of
from cometfuzz.coverage.rows import Ids, Row
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Graph, Node, Params
from cometfuzz.ir.types import TensorType

REMEMBERED = 4_000
"""Calls whose numbers are remembered, those of both spaces together: mutants share most of their nodes, and what cases
in flight have is asked for again. A call of a large layer costs several kilobytes."""

NO_IDS: Ids = np.zeros(0, np.int32)

REMEMBERED_VALUES = 100
"""Calls of which it is remembered what they chose: pairs and triples of a case ask for it one after the other."""

UNSAID = -(2**48)
"""In place of the number of a value: whatever is added to it, it is no combination's number."""


class Block(NamedTuple):
    """The combinations of some factors: their places among those of the layer, how many values each has, and where the
    combinations begin."""

    places: tuple[int, ...]
    sizes: tuple[int, ...]
    start: int


@dataclass(frozen=True)
class Table:
    """The combinations of one layer: blocks of them, and where they begin and end in the space."""

    spec: LayerSpec
    factors: tuple[Factor, ...]
    blocks: Sequence[Block]
    start: int
    stop: int

    @cached_property
    def numbers(self) -> tuple[tuple[str, Mapping[str, int]], ...]:
        """Each factor with the number of each of its values."""
        return tuple((name, {value: at for at, value in enumerate(values)}) for name, values in self.factors)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
        """Of all blocks at once: their starts; then factor by factor its places, and what a step of the value comes
        to."""
        starts = np.array([block.start for block in self.blocks], np.int64)
        steps = [[prod(block.sizes[at + 1 :]) for at in range(len(block.sizes))] for block in self.blocks]
        places = [block.places for block in self.blocks]
        return starts, list(zip(np.array(places, np.int64).T.copy(), np.array(steps, np.int64).T.copy(), strict=True))

    def ids(self, values: Sequence[int]) -> Ids:
        """The combinations of a call whose factors have these values, by number; UNSAID: it says nothing of one."""
        numbers, columns = self._columns
        given = np.array(values, np.int64)
        for places, steps in columns:
            numbers = numbers + given[places] * steps
        return numbers[numbers >= 0].astype(np.int32)


Chosen = Callable[[Sequence[Factor]], Iterable[tuple[int, ...]]]
"""Which of a layer's factors are counted together: their places."""


class CombinationSpace:
    """All combinations of all layers."""

    def __init__(self, name: str, chosen: Chosen, without: Sequence[str] = ()) -> None:
        """name: what its combinations are called; without: factors that are not counted in it."""
        self.name = name
        self.tables: dict[str, Table] = {}
        start = 0
        for layer, spec in LAYERS.items():
            factors = tuple(factor for factor in _factors(layer) if factor.name not in without)
            blocks, at = [], start
            for places in chosen(factors):
                sizes = tuple(len(factors[place].values) for place in places)
                blocks.append(Block(places, sizes, at))
                at += prod(sizes)
            self.tables[layer] = Table(spec, factors, tuple(blocks), start, at)
            start = at
        self.total = start

    def by_layer(self) -> dict[str, int]:
        """How many combinations each layer has, those without any left out."""
        return {name: table.stop - table.start for name, table in self.tables.items() if table.blocks}

    def named(self, layer: str, number: int) -> dict[str, str]:
        """The combination of a number: factors with their values."""
        table = self.tables[layer]
        block = next(each for each in reversed(table.blocks) if each.start <= number)
        values = np.unravel_index(number - block.start, block.sizes)
        factors = [table.factors[place] for place in block.places]
        return {factor.name: factor.values[int(value)] for factor, value in zip(factors, values, strict=True)}

    @lru_cache(maxsize=REMEMBERED)  # noqa: B019 (there are two spaces, which live as long as the process)
    def of_call(self, layer: str, params: Params, types: tuple[TensorType, ...], regime: str | None) -> Ids:
        """The numbers of the combinations that a call has; without a regime, those that say nothing of data."""
        table = self.tables[layer]
        if not table.blocks:
            return NO_IDS
        given = _values_of(layer, params, types, regime)
        return table.ids([numbers.get(given.get(name, ""), UNSAID) for name, numbers in table.numbers])

    def of_case(self, case: Case) -> Iterator[tuple[str, Ids]]:
        """The combinations of every call of a case, with the node.

        Of the data of a node that reads no input of the model, nothing is said where some input is odd.
        """
        graph = case.graph
        inputs = {node.id for node in graph.inputs}
        regimes = {name: regime_of(tensor) for name, tensor in case.data.items() if name in inputs}
        for node in graph.nodes:
            if node.layer in self.tables:
                regime = _regime(graph, node, regimes)
                yield node.id, self.of_call(node.layer, node.params, graph.input_types(node), regime)


@lru_cache(maxsize=REMEMBERED_VALUES)
def _values_of(layer: str, params: Params, types: tuple[TensorType, ...], regime: str | None) -> dict[str, str]:
    return values_of(LAYERS[layer], _factors(layer), params, types, regime)


@cache
def _factors(layer: str) -> tuple[Factor, ...]:
    return tuple(factors_of(LAYERS[layer]))


def _regime(graph: Graph, node: Node, regimes: dict[str, str]) -> str | None:
    if not regimes:
        return ORDINARY
    source = node.inputs[0].node if node.inputs else ""
    read = source in graph.by_id and graph.by_id[source].layer == INPUT
    return regimes.get(source, ORDINARY) if read else None


class CombinationCoverage(Row):
    """Which combinations of a space have executed, and how often one could not be planned, or failed."""

    def __init__(self, space: CombinationSpace) -> None:
        super().__init__(space.total)
        self.space = space

    def learn(self, case: Case, executed: bool) -> None:
        """Count what a case has executed, or that it failed."""
        self.count([ids for _, ids in self.space.of_case(case)], executed)

    def count(self, calls: Sequence[Ids], executed: bool) -> None:
        """Count the combinations of the calls of a case: what it has executed, or that it failed."""
        if executed:
            self.cover(np.concatenate((NO_IDS, *calls)))
            return
        for ids in calls:
            self.fail(ids)

    def missing(self, layer: str) -> Ids:
        """The combinations of a layer that have not executed and are not given up."""
        table = self.space.tables[layer]
        return self.open(table.start, table.stop)
