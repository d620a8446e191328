"""What a synthesised model has to cover: the diversity of its original, in both spaces and value by value.

Layer inputs: dtypes, ranks, and as many shapes as the spaces count. Parameters: every value itself; but of sizes, which
are what shrinks, and of values computed from shapes only as many different ones as the spaces count. Sequences: every
one, over direct edges in the full space and through utility nodes in the paper's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cometfuzz.catalogue import LAYERS, LayerSpec
from cometfuzz.catalogue.spaces import Computed, Ints, Optional
from cometfuzz.coverage.gain import Coverage, Fact, facts_of, parameter_facts
from cometfuzz.coverage.layers import CRITERIA, CoverageSpace, Item, full_space, paper_space, text
from cometfuzz.ir.graph import Graph, Inner, Params
from cometfuzz.ir.types import TensorType

SIZES = (
    *("filters", "units", "input_dim", "output_dim", "num_tokens", "key_dim", "value_dim", "head_dim"),
    *("n", "output_size", "height", "width"),
)
"""Parameters that say how large something is. A value that we would draw stays; a larger one shrinks."""

PAPER, FULL, EXACT = "paper", "full", "exact"
Key = tuple[str, str, str, str]


def shrinks(spec: LayerSpec, name: str, value: Any) -> bool:
    """Whether a value of the original may become another one."""
    space = spec.params[name]
    space = space.inner if isinstance(space, Optional) else space
    if isinstance(space, Computed) or isinstance(value, Inner):
        return True
    return name in SIZES and isinstance(space, Ints) and type(value) is int and value > space.high


@lru_cache(maxsize=10_000)
def exact_facts(layer: str, params: Params) -> tuple[Fact, ...]:
    """The parameter values that must come back as they are."""
    spec = LAYERS[layer]
    return tuple(
        Fact("parameters", layer, name, text(value)) for name, value in params.items() if not shrinks(spec, name, value)
    )


@dataclass
class Wanted:
    """Facts that are still open: named ones, and how many more different values of a counted one."""

    named: dict[tuple[str, Fact], None]
    counted: dict[Key, int]
    _seen: dict[Key, dict[str, None]]
    sizes: Mapping[str, int]
    """How many facts of each criterion the original has."""

    def __bool__(self) -> bool:
        return bool(self.named or self.counted)

    def without(self, graph: Graph) -> "Wanted":
        """What is open beside a graph."""
        left = Wanted(
            dict(self.named), dict(self.counted), {key: dict(seen) for key, seen in self._seen.items()}, self.sizes
        )
        left.cover(graph_facts(graph))
        return left

    def wants(self, space: str, fact: Fact) -> bool:
        key = (space, *fact[:3])
        return (space, fact) in self.named or (
            key in self.counted and fact.value not in self._seen.get(key, ()) and fact.value != "null"
        )

    def inputs(self, layer: str, kind: TensorType) -> int:
        """How many facts an input of this type would add to a layer."""
        return sum(self.wants(space, fact) for space in (PAPER, FULL) for fact in input_facts(layer, kind))

    def sequence(self, space: str, before: str, after: str) -> bool:
        return (space, Fact("sequences", before, "before", after)) in self.named

    def parameters(self, layer: str, params: Params) -> int:
        """How many facts these parameters would add."""
        return sum(self.wants(space, fact) for space, fact in parameter_facts_of(layer, params))

    def cover(self, facts: Iterable[tuple[str, Fact]]) -> None:
        """Strike out what is covered now."""
        for space, fact in facts:
            key = (space, *fact[:3])
            self.named.pop((space, fact), None)
            if key in self.counted and self.wants(space, fact):
                self._seen.setdefault(key, {})[fact.value] = None
                self.counted[key] -= 1
                if not self.counted[key]:
                    del self.counted[key]

    def missing(self) -> list[Fact]:
        """What is open; a counted one as often as another value is needed."""
        counted = [Fact(*key[1:], "another value") for key, count in self.counted.items() for _ in range(count)]
        return [*(fact for _, fact in self.named), *counted]

    def kept(self) -> dict[str, float]:
        """The share of the original's facts that is covered, for each criterion."""
        missing = self.missing()
        return {
            criterion: 1 - sum(fact.criterion == criterion for fact in missing) / max(1, self.sizes[criterion])
            for criterion in CRITERIA
        }


@lru_cache(maxsize=10_000)
def input_facts(layer: str, kind: TensorType) -> tuple[Fact, Fact, Fact]:
    return (
        Fact("inputs", layer, "dtype", kind.dtype),
        Fact("inputs", layer, "rank", str(kind.rank)),
        Fact("inputs", layer, "shape", str(kind.shape)),
    )


@lru_cache(maxsize=10_000)
def parameter_facts_of(layer: str, params: Params) -> tuple[tuple[str, Fact], ...]:
    """All parameter facts of a call, by space; those of weights that it does not have among them."""
    facts = [fact for name, value in params.items() for fact in parameter_facts(layer, name, value)]
    exact = [(EXACT, fact) for fact in exact_facts(layer, params)]
    return (*((space, fact) for fact in facts for space in (PAPER, FULL)), *exact)


def graph_facts(graph: Graph) -> Iterator[tuple[str, Fact]]:
    """Everything that a graph covers, by space."""
    for space in (paper_space(), full_space()):
        for fact in facts_of(graph, space):
            yield space.name, fact
    for node in graph.nodes:
        if node.layer in LAYERS:
            for fact in exact_facts(node.layer, node.params):
                yield EXACT, fact


def wanted_of(original: Graph) -> Wanted:
    """Everything that a model covers."""
    named: dict[tuple[str, Fact], None] = {}
    counted: dict[Key, int] = {}
    for space in (paper_space(), full_space()):
        items = _named_items(space)
        for fact in Coverage(space).gain(original).facts:
            if Item(*fact) in items:
                named[space.name, fact] = None
            else:
                key = (space.name, *fact[:3])
                counted[key] = counted.get(key, 0) + 1
    for space_name, fact in graph_facts(original):
        if space_name == EXACT:
            named[EXACT, fact] = None
    facts = [*(fact.criterion for _, fact in named), *(key[1] for key, count in counted.items() for _ in range(count))]
    return Wanted(named, counted, {}, {criterion: facts.count(criterion) for criterion in CRITERIA})


def _named_items(space: CoverageSpace) -> set[Item]:
    return {item for items in space.items.values() for item in items}
