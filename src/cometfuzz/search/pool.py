"""The pool: what may be mutated next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Graph

SIZE = 50

Member = TypeVar("Member")


@dataclass(frozen=True)
class Model:
    """A graph with its weights and inputs, for strategies that change these too: the seed from which they are drawn,
    and those that are not drawn."""

    graph: Graph
    rng_seed: int
    data: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        return Case(self.graph, self.rng_seed, self.data)


class Pool(Generic[Member]):
    """At most `size` graphs, or whatever a strategy mutates; a new one pushes out any other, by draw."""

    def __init__(self, graphs: Sequence[Member], size: int = SIZE) -> None:
        self.graphs, self.size = list(graphs)[:size], size

    def choose(self, draw: Draw) -> Member:
        return draw.choice(self.graphs)

    def add(self, graph: Member, draw: Draw) -> int:
        """Take one in; its place, which another one had before where the pool was full."""
        if len(self.graphs) < self.size:
            self.graphs.append(graph)
            return len(self.graphs) - 1
        place = draw.integer(0, len(self.graphs) - 1)
        self.graphs[place] = graph
        return place

    def __len__(self) -> int:
        return len(self.graphs)
