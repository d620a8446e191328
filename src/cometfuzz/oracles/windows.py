"""Windows: some nodes of a graph as a model of their own, on the values that a route has there, and what the reference
says of them.

Many routes have the very same values at a node, those of one library above all, so what the reference says of a window
is worked out once for all of them: a bound takes a dozen runs.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cometfuzz.catalogue.cutting import Part, cut_out, outputs_of, with_mask_sources
from cometfuzz.catalogue.data import NAMES, Array, Data, to_array, to_tensor
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.bound import Expected, expect, expect_digits
from cometfuzz.reference.run import narrow, run


@dataclass(frozen=True)
class Window:
    """Some nodes as a case of their own, with the inputs and weights that they have there."""

    case: Case
    given: Data

    @property
    def graph(self) -> Graph:
        return self.case.graph

    def alone(self, rng_seed: int) -> Case:
        """The case with its weights, as a library can run it; rng_seed: that of the case which it is a part of."""
        data = {**self.case.data, **weights_of(self.graph, self.given)}
        return replace(self.case, rng_seed=rng_seed, data=data)

    @cached_property
    def exact(self) -> Mapping[Edge, Array]:
        """The values of all edges by the reference."""
        return run(self.graph, self.given).values

    @cached_property
    def expected(self) -> Mapping[Edge, Expected]:
        return expect(self.graph, self.given)

    @cached_property
    def digits(self) -> Mapping[Edge, Expected]:
        return expect_digits(self.graph, self.given)

    @cached_property
    def leaves_range(self) -> bool:
        """Whether numbers leave the range of their dtype within: Inf is right there, and the reference, which knows no
        range, says nothing of what follows."""
        for node in self.graph.nodes:
            for index, kind in enumerate(node.outputs):
                edge = Edge(node.id, index)
                if edge in self.graph.outputs or kind.dtype not in FLOATS:
                    continue
                value = self.exact[edge]
                if (np.isfinite(value) & ~np.isfinite(narrow(value, kind.dtype).astype(np.float64))).any():
                    return True
        return False


class Windows:
    """The windows of one graph with its weights, as many of them as somebody has asked for."""

    def __init__(self, graph: Graph, data: Data) -> None:
        self._graph, self._data = graph, data
        self._parts: dict[tuple[str, ...], Part | None] = {}
        self._seen: dict[tuple[tuple[str, ...], bytes], Window] = {}

    def on(self, nodes: Sequence[Node], values: Mapping[Edge, Array]) -> Window | None:
        """Some nodes, up to the last one, on the given values; None as `window` has it."""
        names = tuple(node.id for node in nodes)
        if names not in self._parts:
            self._parts[names] = _part(self._graph, nodes)
        part = self._parts[names]
        if part is None:
            return None
        key = names, digest_of({edge: values[edge] for edge in part.sources.values()})
        if key not in self._seen:
            case = _case(self._graph, part, values)
            if case is None:
                return None
            known = self._data.weights
            weights = {node.id: known[node.id] for node in case.graph.nodes if node.id in known}
            inputs = {node.id: to_array(case.data[node.id]) for node in case.graph.inputs}
            self._seen[key] = Window(case, Data(inputs, weights))
        return self._seen[key]


def window(graph: Graph, nodes: Sequence[Node], values: Mapping[Edge, Array]) -> Case | None:
    """Some nodes, up to the last one, as a case of their own that reads the given values; None if it does not stand
    alone, or they have not the shapes that it takes or a dtype that no case has (a route may give 64-bit integers).
    """
    return _case(graph, _part(graph, nodes), values)


def _part(graph: Graph, nodes: Sequence[Node]) -> Part | None:
    kept = with_mask_sources(graph, [node.id for node in nodes])
    return cut_out(graph, kept, outputs_of(graph, nodes[-1].id))


def _case(graph: Graph, part: Part | None, values: Mapping[Edge, Array]) -> Case | None:
    if part is None:
        return None
    for edge in part.sources.values():
        seen = values[edge]
        if seen.shape != graph.type_of(edge).shape or seen.dtype not in NAMES:
            return None
    return Case(part.graph, 0, {name: to_tensor(values[edge]) for name, edge in part.sources.items()})


def digest_of(values: Mapping[Edge, Array]) -> bytes:
    """The same for the same values of the same edges, bit by bit."""
    found = hashlib.sha256()
    for edge, array in sorted(values.items()):
        found.update(f"{edge} {array.dtype} {array.shape};".encode())
        found.update(array.tobytes())
    return found.digest()


def weights_of(graph: Graph, data: Data) -> dict[str, Tensor]:
    """The weights of a part of a graph, as a case keeps them."""
    return {
        f"{node.id}/{name}": to_tensor(array)
        for node in graph.nodes
        for name, array in data.weights.get(node.id, {}).items()
    }
