"""What a mutation is, and what it may ask: the Guide, which knows what is uncovered."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from cometfuzz.catalogue.cost import cost_of
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.config import GraphConfig
from cometfuzz.coverage.gain import Coverage, Fact, parameter_facts
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.graph import Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.dialect import Dialect

LAYERS_AT_ONCE = 10
"""A mutation touches 1 to 10 layers (the paper, section 3.3)."""


WIDER = 16
"""How many times larger a tensor of a model with wide sizes may be: 33 by 33 places of 32 channels must fit."""

_USUAL = GraphConfig()


class Inapplicable(CometfuzzError):
    """A mutation that has nothing to do on this graph; says why."""


@dataclass(frozen=True)
class ModelLimits:
    """How large a graph may get, and which dialect it keeps to; without one, any call will do.

    elements: of one tensor that a mutation makes. flops, bytes: of the whole graph, estimated by `catalogue.cost`.
    """

    nodes: int = _USUAL.nodes
    elements: int = _USUAL.elements
    flops: int = _USUAL.flops
    bytes: int = _USUAL.bytes
    dialect: Dialect | None = None
    layers: int = LAYERS_AT_ONCE
    """How many layers a mutation touches at most."""
    even: bool = False
    """Whether how many that are is drawn evenly."""
    published: bool = False
    """Whether mutations keep to the paper where ours differ by choice: how many layers they touch is drawn evenly, and
    new axes have size 1."""

    @staticmethod
    def of(given: GraphConfig) -> "ModelLimits":
        """The limits that a configuration sets."""
        return ModelLimits(given.nodes, given.elements, given.flops, given.bytes)

    def widened(self) -> "ModelLimits":
        """The limits of a model with wide sizes: larger tensors, no more work."""
        return replace(self, elements=WIDER * self.elements)

    def excess(self, graph: Graph) -> str:
        """Which limit a graph exceeds, or nothing."""
        if len(graph.nodes) > self.nodes:
            return f"more than {self.nodes} nodes"
        if any(kind.elements > self.elements for node in graph.nodes for kind in node.outputs):
            return f"more than {self.elements} elements"
        costs = [cost_of(node.layer, graph.input_types(node), node.params, node.outputs) for node in graph.nodes]
        if sum(cost.flops for cost in costs) > self.flops:
            return f"more than {self.flops} flops"
        return f"more than {self.bytes} bytes" if sum(cost.bytes for cost in costs) > self.bytes else ""

    def objection(self, layer: str, types: tuple[TensorType, ...], params: Params) -> str:
        """What stands against a valid call, or nothing."""
        return "" if self.dialect is None else self.dialect.objection(layer, types, params)

    def has(self, layer: str) -> bool:
        return self.dialect is None or self.dialect.has(layer)

    def offered(self, layer: str, parameter: str, values: list[Any]) -> list[Any]:
        """Those of some values of a parameter that all libraries have."""
        return values if self.dialect is None else self.dialect.offered(layer, parameter, values)

    def within(self, spec: LayerSpec, types: tuple[TensorType, ...], params: Params | None) -> Params | None:
        """Parameters of a call with simpler values where a library lacks one; None if there is no such call."""
        return params if self.dialect is None else self.dialect.within(spec, types, params)


class Mutation(Protocol):
    """Makes one graph out of another: a valid one, or Inapplicable; nothing else."""

    def __call__(self, graph: Graph, guide: "Guide", draw: Draw, limits: ModelLimits) -> Graph: ...


class Avoiding(Protocol):
    """Facts that nobody should go for; the `changes` of a layer go up whenever those of it become others."""

    changes: Counter[str]

    def __contains__(self, fact: object, /) -> bool: ...


class Nothing:
    """No fact."""

    def __init__(self) -> None:
        self.changes: Counter[str] = Counter()

    def __contains__(self, fact: object, /) -> bool:
        return False


class Guide:
    """Says which facts are worth going for: uncovered, and not avoided (claimed by a case in flight, or parked)."""

    def __init__(self, coverages: Sequence[Coverage], avoided: Avoiding | None = None) -> None:
        self.coverages, self.avoided = coverages, avoided or Nothing()
        self._open: dict[str, tuple[int, list[tuple[str, list[Any] | None]]]] = {}
        """What `_open_of` found of layers, and after how many changes of them: plans ask for the same ones again."""

    def wants(self, fact: Fact) -> bool:
        if fact not in self.avoided:
            for coverage in self.coverages:
                if coverage.wants(fact):
                    return True
        return False

    def wants_input(self, layer: str, kind: TensorType) -> int:
        """How many of dtype, rank and shape would be new for a layer."""
        values = (("dtype", kind.dtype), ("rank", str(kind.rank)), ("shape", str(kind.shape)))
        return sum(self.wants(Fact("inputs", layer, name, value)) for name, value in values)

    def wants_sequence(self, before: str, after: str) -> bool:
        return self.wants(Fact("sequences", before, "before", after))

    def new_pair(self, before: Sequence[Node], after: Container[str], draw: Draw) -> tuple[Node, list[str]] | None:
        """A node, and the layers out of `after` that have never followed its layer.

        Layers that take the node's output as it is come first: those that have not followed in the first space, then
        those of it that did so only through utility nodes, which the full space does not count. Then, space by space,
        whatever has not followed.
        """
        nodes = draw.shuffled(before)
        for coverage in self.coverages:
            for node in nodes:
                wanted, kind = coverage.open_followers(node.layer), node.outputs[0]
                names = self.coverages[0].followers(node.layer) if wanted else ()
                reading = readers(kind)
                fitting = [name for name in names if name in wanted and name in after and name in reading]
                if direct := self._not_avoided(node, fitting):
                    return node, direct
        for coverage in self.coverages:
            adapted: tuple[Node, list[str]] | None = None
            for node in nodes:
                names = [name for name in coverage.open_followers(node.layer) if name in after]
                found, reading = self._not_avoided(node, names), readers(node.outputs[0])
                if direct := [name for name in found if name in reading]:
                    return node, direct
                if found and adapted is None:
                    adapted = node, found
            if adapted is not None:
                return adapted
        return None

    def _not_avoided(self, node: Node, names: Iterable[str]) -> list[str]:
        """Those of some layers of which no case in flight claims, and no failure says, that they follow a node's."""
        return [name for name in names if Fact("sequences", node.layer, "before", name) not in self.avoided]

    def wants_value(self, spec: LayerSpec, parameter: str, value: Any) -> bool:
        return any(self.wants(fact) for fact in parameter_facts(spec.name, parameter, value))

    def is_open(self, layer: str, parameter: str) -> bool:
        """Whether some value of a parameter is uncovered."""
        return any(coverage.is_open(layer, parameter) for coverage in self.coverages)

    def _open_of(self, spec: LayerSpec) -> list[tuple[str, list[Any] | None]]:
        """The parameters of a layer that have uncovered values, with these; None in place of what cannot be listed."""
        layer = spec.name
        changes = self.avoided.changes[layer] + sum(coverage.changes[layer] for coverage in self.coverages)
        known = self._open.get(layer)
        if known is not None and known[0] == changes:
            return known[1]
        found: list[tuple[str, list[Any] | None]] = []
        for parameter in spec.params:
            if self.is_open(layer, parameter):
                listed = _listed(layer, parameter)
                values = None if listed is None else [value for value, facts in listed if any(map(self.wants, facts))]
                if values is None or values:
                    found.append((parameter, values))
        self._open[layer] = changes, found
        return found

    def draw_params(
        self,
        spec: LayerSpec,
        types: tuple[TensorType, ...],
        draw: Draw,
        limits: ModelLimits,
        keep: Params | None = None,
    ) -> Params | None:
        """Parameters that are valid and within the dialect, with as many uncovered values as go together.

        With `keep`, parameters without an uncovered value stay as they are, if that is valid.
        """
        x, base = spec.view(types), keep or spec.plain
        wanted: dict[str, Any] = {}
        for parameter, values in self._open_of(spec):
            if values is None:
                space = spec.params[parameter]
                drawn = space.canonical(space.draw(draw, x, base))
                values = [drawn] if self.wants_value(spec, parameter, drawn) else []
            if values := limits.offered(spec.name, parameter, values):
                wanted[parameter] = draw.choice(values)
        while True:
            fixed = {**base, **wanted} if keep is not None else wanted
            params = spec.draw_params(draw, types, fixed, tries=1 if keep is not None else 4)
            params = limits.within(spec, types, params)
            if params is not None and not limits.objection(spec.name, types, params):
                return params
            if not wanted:
                params = limits.within(spec, types, spec.draw_params(draw, types, tries=10))
                return params if params is not None and not limits.objection(spec.name, types, params) else None
            for parameter in draw.shuffled(list(wanted))[: (len(wanted) + 1) // 2]:
                del wanted[parameter]


@cache
def _listed(layer: str, parameter: str) -> tuple[tuple[Any, tuple[Fact, ...]], ...] | None:
    """The values of a parameter with what they count as; None if they are counted or too many."""
    space = CATALOGUE[layer].params[parameter]
    options = space.options()
    if options is None or space.numeric:
        return None
    return tuple((value, parameter_facts(layer, parameter, value)) for value in options)


def readers(kind: TensorType) -> frozenset[str]:
    """The layers that a tensor suits by its rank and dtype."""
    return _readers(kind.rank, kind.dtype)


@cache
def _readers(rank: int, dtype: str) -> frozenset[str]:
    return frozenset(name for name, spec in CATALOGUE.items() if rank in spec.ranks and dtype in spec.dtypes)


def how_many(draw: Draw, available: int, limits: ModelLimits) -> int:
    """How many layers to touch: 1 to 10, many more often than few, since a case costs seconds to run."""
    draws = 1 if limits.published or limits.even else 3
    return min(available, max(draw.integer(1, limits.layers) for _ in range(draws)))
