"""Sequences of three: a layer that reads one that reads another, directly.

There are two million, far too many to go for, so those of layers are only counted, and what is gone for are those of
families (a pooling that reads a convolution that reads a normalisation): of these there are a few thousand.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue import LAYERS
from cometfuzz.coverage.layers import full_space
from cometfuzz.coverage.rows import Ids, Row
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph

CHAINS = "sequences of three"


class ChainSpace:
    """Families in threes, and which of them can be: some layer of the second reads one of the first and is read by one
    of the third. Whether the shapes of such three ever meet is left to the search."""

    def __init__(self) -> None:
        self.families = tuple(dict.fromkeys(spec.family for spec in LAYERS.values()))
        numbers = {family: number for number, family in enumerate(self.families)}
        self.layers = {name: number for number, name in enumerate(LAYERS)}
        self.family_of = {name: numbers[spec.family] for name, spec in LAYERS.items()}
        size = len(self.families)
        self.follows: NDArray[np.bool_] = np.zeros((size, size), np.bool_)
        reads = np.zeros((size, len(LAYERS)), np.bool_)
        read_by = np.zeros((len(LAYERS), size), np.bool_)
        space = full_space()
        for item in space.items["sequences"]:
            if item not in space.unreachable:
                before, after = self.family_of[item.layer], self.family_of[item.value]
                reads[before, self.layers[item.value]] = read_by[self.layers[item.layer], after] = True
                self.follows[before, after] = True
        self.reachable: NDArray[np.bool_] = np.zeros((size, size, size), np.bool_)
        for name, number in self.layers.items():
            self.reachable[:, self.family_of[name]] |= np.logical_and.outer(reads[:, number], read_by[number])

    def number(self, first: str, second: str, third: str) -> int:
        """The number of the families of three layers."""
        size = len(self.families)
        return (self.family_of[first] * size + self.family_of[second]) * size + self.family_of[third]

    def as_plain(self) -> dict[str, Any]:
        """The form of `cometfuzz space --json`."""
        return {
            "total": self.reachable.size,
            "reachable": int(self.reachable.sum()),
            "unreachable": [
                {"families": [self.families[place] for place in places], "reason": self._why_never(*map(int, places))}
                for places in np.argwhere(~self.reachable)
            ],
        }

    def _why_never(self, first: int, second: int, third: int) -> str:
        for one, two in ((first, second), (second, third)):
            if not self.follows[one, two]:
                return f"no layer of {self.families[two]} reads one of {self.families[one]}"
        return f"no layer of {self.families[second]} does both"


@cache
def chain_space() -> ChainSpace:
    """The space; it is made when somebody asks for the first time."""
    return ChainSpace()


class Chains(NamedTuple):
    """The sequences of three in a graph: those of layers by number, and for each of them that of families."""

    layers: Ids
    families: Ids


def chains_of(graph: Graph) -> Chains:
    """The sequences of three in a graph, each once."""
    space = chain_space()
    layers, size = space.layers, len(space.layers)
    found: dict[int, int] = {}
    for node in graph.nodes:
        if node.layer not in layers:
            continue
        for second in (graph.by_id[edge.node] for edge in node.inputs):
            if second.layer in layers:
                for first in (graph.by_id[edge.node].layer for edge in second.inputs):
                    if first in layers:
                        number = (layers[first] * size + layers[second.layer]) * size + layers[node.layer]
                        found[number] = space.number(first, second.layer, node.layer)
    return Chains(np.array(list(found), np.int32), np.array(list(found.values()), np.int32))


class ChainCoverage:
    """Which families have executed in threes, and how many different sequences of three layers."""

    def __init__(self) -> None:
        self.space = chain_space()
        self.families = Row(self.space.reachable.size)
        self.distinct = 0
        self._seen = np.zeros(len(self.space.layers) ** 3 // 8 + 1, np.uint8)
        """A bit for each three layers."""

    def wants(self, first: str, second: str, third: str) -> bool:
        """Whether the families of three layers have not executed in this order, and are worth a try."""
        number = self.space.number(first, second, third)
        return bool(self.space.reachable.flat[number]) and self.families.wants(np.array([number], np.int32))

    def learn(self, case: Case, executed: bool) -> None:
        """Count what a case has executed, or that it failed."""
        self.count(chains_of(case.graph), executed)

    def count(self, chains: Chains, executed: bool) -> None:
        """Count the sequences of a graph: what has executed, or that it failed."""
        if not executed:
            self.families.fail(np.unique(chains.families))
            return
        self.families.cover(chains.families)
        places, bits = chains.layers >> 3, np.left_shift(1, chains.layers & 7).astype(np.uint8)
        self.distinct += int((self._seen[places] & bits == 0).sum())
        np.bitwise_or.at(self._seen, places, bits)

    def summary(self) -> dict[str, int]:
        """Covered, total and reachable of families; `distinct`: how many sequences of three layers there were."""
        counts = self.families.summary()
        never = int((~self.space.reachable).sum())
        return {**counts, "reachable": max(counts["reachable"] - never, counts["covered"]), "distinct": self.distinct}
