"""The pool: graphs that may be mutated next."""

from collections.abc import Sequence

from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph

SIZE = 50


class Pool:
    """At most `size` graphs; a new one pushes out any other, by draw."""

    def __init__(self, graphs: Sequence[Graph], size: int = SIZE) -> None:
        self.graphs, self.size = list(graphs)[:size], size

    def choose(self, draw: Draw) -> Graph:
        return draw.choice(self.graphs)

    def add(self, graph: Graph, draw: Draw) -> None:
        if len(self.graphs) >= self.size:
            self.graphs[draw.integer(0, len(self.graphs) - 1)] = graph
        else:
            self.graphs.append(graph)

    def __len__(self) -> int:
        return len(self.graphs)
