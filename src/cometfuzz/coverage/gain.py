"""Coverage: what graphs have covered of a space, and Gain: what one more graph adds.

Asking what a graph would add costs as much as the graph is long, whatever has been covered before. Coverages of
several processes merge, and go to JSON and back.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.utility import SPECIAL_NODES
from cometfuzz.coverage.layers import CRITERIA, NUMERIC, PAPER_PARAMETERS, CoverageSpace, Item, paper_table, text
from cometfuzz.coverage.reach import idle_parameters
from cometfuzz.ir.graph import Edge, Graph, Inner, Node, Params
from cometfuzz.ir.recent import Recent
from cometfuzz.ir.types import POLICY, TensorType

REMEMBERED = 5000
"""Calls that are remembered to add nothing: the pool has about 1500, and a long campaign must not grow."""

NULL = text(None)
"""No number: it never counts among the values of a numeric parameter."""

_TODAY = {(layer, today): paper for (layer, paper), today in PAPER_PARAMETERS.items()}
"""Today's name of a parameter -> the paper's."""


class Fact(NamedTuple):
    """Something that a graph does: like an Item, but with the real value of a shape or a number."""

    criterion: str
    layer: str
    name: str
    value: str


@dataclass(frozen=True)
class Gain:
    """The facts that a graph adds to a coverage."""

    facts: tuple[Fact, ...]

    def __bool__(self) -> bool:
        return bool(self.facts)

    def count(self, criterion: str) -> int:
        return sum(fact.criterion == criterion for fact in self.facts)


@dataclass
class _Tally:
    """How many of some items are covered."""

    items: Sequence[Item]
    wanted: frozenset[tuple[str, ...]]
    covered: int


@dataclass
class Coverage:
    """What has been covered of one space."""

    space: CoverageSpace
    _named: set[tuple[str, ...]] = field(default_factory=set)
    _counted: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = self.space.index
        self._items, self._caps = self._index.named, self._index.caps
        self._paper = self.space.name == "paper"
        self._done: dict[int, tuple[Fact, ...]] = {}
        """Calls that add nothing, by the identity of their facts: since coverage only grows, they never will."""
        self._taken: Counter[tuple[str, str, str]] = Counter()
        """How many values of a parameter, or shapes of a layer, are covered."""
        self._covered: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        """How much was covered of each layer; it only goes up."""
        self._tallies: dict[int, _Tally] = {}
        """Those of the items that somebody has asked of, by identity."""
        self._followers: dict[str, dict[str, None]] = {}
        """The layers that have not followed one, for those that somebody has asked of."""

    def gain(self, graph: Graph) -> Gain:
        """What the graph would add."""
        added: dict[Fact, None] = {}
        room: dict[tuple[str, str, str], int] = {}
        for _, facts in facts_by_node(graph, self.space):
            for fact in self.wanted(facts):
                if fact in added:
                    continue
                if fact not in self._items:
                    key = fact[:3]
                    left = room.get(key, self._caps[key] - len(self._counted.get(key, ())))
                    if not left:
                        continue
                    room[key] = left - 1
                added[fact] = None
        return Gain(tuple(added))

    def wanted(self, facts: tuple[Fact, ...]) -> Sequence[Fact]:
        """Those of the facts of a call that would add something, each by itself."""
        if self._done.get(id(facts)) is facts:
            return ()
        items, named = self._items, self._named
        wanted = [fact for fact in facts if (fact not in named if fact in items else self.counts(fact))]
        if not wanted:
            if len(self._done) >= REMEMBERED:
                self._done.clear()
            self._done[id(facts)] = facts
        return wanted

    def wants(self, fact: Fact) -> bool:
        """Whether a fact would add something."""
        return fact not in self._named if fact in self._items else self.counts(fact)

    def counts(self, fact: Fact) -> bool:
        """Whether a fact that is no item by itself would add a value to those that are counted."""
        key = fact[:3]
        if key not in self._caps or fact.value == NULL:
            return False
        seen = self._counted.get(key)
        return seen is None or (len(seen) < self._caps[key] and fact.value not in seen)

    def is_open(self, layer: str, parameter: str) -> bool:
        """Whether some value of a parameter, by today's name, is uncovered."""
        name = _TODAY.get((layer, parameter), parameter) if self._paper else parameter
        key = ("parameters", layer, name)
        return self._index.reachable.get(key, 0) > self._taken[key]

    def followers(self, layer: str) -> Sequence[str]:
        """The layers of which the space asks that they follow a layer."""
        return self._index.followers.get(layer, ())

    def open_followers(self, layer: str) -> Collection[str]:
        """The layers that have not yet followed a layer."""
        if layer not in self._followers:
            names = self._index.followers.get(layer, ())
            self._followers[layer] = {name: None for name in names if _sequence(layer, name) not in self._named}
        return self._followers[layer].keys()

    def add(self, facts: Iterable[Fact]) -> None:
        """Count facts as covered; those beyond the space or beyond a cap change nothing."""
        for fact in facts:
            key = fact[:3]
            if fact in self._items:
                if fact not in self._named:
                    self._named.add(fact)
                    self._count(key)
                    for tally in self._tallies.values():
                        tally.covered += fact in tally.wanted
                if fact.criterion == "sequences" and fact.layer in self._followers:
                    self._followers[fact.layer].pop(fact.value, None)
            elif key in self._caps and fact.value != NULL:
                seen = self._counted.setdefault(key, {})
                if len(seen) < self._caps[key] and fact.value not in seen:
                    seen[fact.value] = None
                    self._count(key)

    def _count(self, key: tuple[str, str, str]) -> None:
        self.changes[key[1]] += 1
        self._taken[key] += 1
        self._covered[key[0]] += 1

    def cover(self, graph: Graph) -> Gain:
        """Add a graph, and say what it added."""
        return self.take(self.gain(graph).facts)

    def take(self, facts: Iterable[Fact]) -> Gain:
        """Add the facts that are still wanted, and say which they were."""
        taken = []
        for fact in facts:
            if self.wants(fact):
                self.add((fact,))
                taken.append(fact)
        return Gain(tuple(taken))

    def covered(self, criterion: str) -> int:
        return self._covered[criterion]

    def covered_of(self, items: Sequence[Item]) -> int:
        """How many of some items that are named, not counted, are covered. They are gone through once: it is asked
        after every case."""
        if id(items) not in self._tallies:
            self._tallies[id(items)] = _Tally(items, frozenset(items), sum(item in self._named for item in items))
        return self._tallies[id(items)].covered

    def open_items(self) -> list[Item]:
        """Every item that is not covered and can be."""
        named, counted = self._named, self._counted
        return [
            item
            for item, number in self._index.open_to_all
            if (item not in named if not number else number > len(counted.get(item[:3], ())))
        ]

    def missing(self) -> dict[Item, str | None]:
        """Every item that is not covered, with the reason if it never can be."""
        missing = {}
        for criterion in CRITERIA:
            for item in self.space.items[criterion]:
                if item.value.startswith("#"):
                    done = int(item.value[1:]) <= len(self._counted.get(item[:3], ()))
                else:
                    done = item in self._named
                if not done:
                    missing[item] = self.space.unreachable.get(item)
        return missing

    def merge(self, other: "Coverage") -> None:
        """Count as covered what another process has covered of the same space."""
        self.add(other.facts())

    def facts(self) -> Iterator[Fact]:
        """Everything that is covered."""
        yield from (Fact(*item) for item in sorted(self._named))
        for key in sorted(self._counted):
            yield from (Fact(*key, value) for value in self._counted[key])

    def as_plain(self) -> list[list[str]]:
        """The coverage in JSON's own types; `add` takes it back, fact by fact."""
        return [list(fact) for fact in self.facts()]

    def summary(self) -> dict[str, dict[str, int]]:
        """Covered, total and reachable for each criterion: the form of every report."""
        return {
            criterion: {
                "covered": self.covered(criterion),
                "total": self.space.total(criterion),
                "reachable": self.space.reachable(criterion),
            }
            for criterion in CRITERIA
        }


def summary_of(coverages: Iterable[Coverage]) -> dict[str, dict[str, dict[str, int]]]:
    """The summary of each space. The sequences of the paper's have a second number, `direct`: those that some graph has
    without a utility node between the two layers, as the paper's authors count; the full space knows no others."""
    spaces = {coverage.space.name: coverage for coverage in coverages}
    found = {name: coverage.summary() for name, coverage in spaces.items()}
    if "paper" in spaces and "full" in spaces:
        items = spaces["paper"].space.items["sequences"]
        found["paper"]["sequences"]["direct"] = spaces["full"].covered_of(items)
    return found


def facts_of(graph: Graph, space: CoverageSpace) -> Iterator[Fact]:
    """What a graph does, in the terms of a space."""
    for _, facts in facts_by_node(graph, space):
        yield from facts


ByNode = Sequence[tuple[str, tuple[Fact, ...]]]


def facts_by_node(graph: Graph, space: CoverageSpace) -> ByNode:
    """The facts of each call, then those of its sequences, with the node; the same call gives the same object."""
    paper, kept = space.name == "paper", _kept(graph)
    for one, specs, facts in kept:
        if one == paper and specs is space.specs:
            return facts
    kept.append((paper, space.specs, tuple(_by_node(graph, space))))
    return kept[-1][2]


def _nothing_yet(graph: Graph) -> list[tuple[bool, object, ByNode]]:
    return []


_kept = Recent(_nothing_yet, lambda kept: 0)
"""The facts of graphs that cases in flight have, in the terms of each space: every route asks for them."""


def _by_node(graph: Graph, space: CoverageSpace) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    paper = space.name == "paper"
    for node in graph.nodes:
        if node.layer in space.specs:
            yield node.id, call_facts(node.layer, node.params, graph.input_types(node), paper)
            for facts in _sequences_to(graph, node, paper):
                yield node.id, facts


def _sequences_to(graph: Graph, node: Node, paper: bool) -> Iterator[tuple[Fact, ...]]:
    for edge in node.inputs:
        yield _sequence_facts(_layer_before(graph, edge) if paper else graph.by_id[edge.node].layer, node.layer)


def new_nodes(graph: Graph, coverages: Sequence[Coverage]) -> list[str]:
    """The nodes whose calls or sequences would add something."""
    new: dict[str, None] = {}
    for coverage in coverages:
        for node, facts in facts_by_node(graph, coverage.space):
            if coverage.wanted(facts):
                new[node] = None
    return list(new)


def _sequence(before: str, after: str) -> Fact:
    return Fact("sequences", before, "before", after)


@cache
def _sequence_facts(before: str, after: str) -> tuple[Fact, ...]:
    return (_sequence(before, after),)


def _layer_before(graph: Graph, edge: Edge) -> str:
    """The layer that an edge comes from, through utility nodes; a special value cuts the way."""
    node: Node = graph.by_id[edge.node]
    while CATALOGUE[node.layer].kind == "utility" and node.inputs and node.layer not in SPECIAL_NODES:
        node = graph.by_id[node.inputs[0].node]
    return node.layer


@lru_cache(maxsize=10_000)
def call_facts(layer: str, params: Params, types: tuple[TensorType, ...], paper: bool) -> tuple[Fact, ...]:
    """What one layer call covers by itself. Mutants share most of their nodes, so this is remembered."""
    spec = CATALOGUE[layer]
    first = spec.cast(types, params)[0]
    facts = [
        Fact("inputs", layer, "dtype", first.dtype),
        Fact("inputs", layer, "rank", str(first.rank)),
        Fact("inputs", layer, "shape", str(first.shape)),
    ]
    idle = idle_parameters(spec, types, params)
    for name, value in params.items():
        if name in idle or name == POLICY:
            continue
        facts += _paper_facts(layer, name, value) if paper else _full_facts(layer, name, value)
    return tuple(facts)


def facts_about(layer: str, params: Params, types: tuple[TensorType, ...], item: Item) -> Iterator[Fact]:
    """Those facts of a call, in the terms of any space, that say what an item is about."""
    spec = CATALOGUE[layer]
    if item.criterion == "inputs":
        first = spec.cast(types, params)[0]
        values = {"dtype": first.dtype, "rank": str(first.rank), "shape": str(first.shape)}
        yield Fact("inputs", layer, item.name, values[item.name])
        return
    for name in dict.fromkeys((item.name, PAPER_PARAMETERS.get((layer, item.name), item.name))):
        if name in params and name != POLICY and name not in idle_parameters(spec, types, params):
            yield from (fact for fact in parameter_facts(layer, name, params[name]) if fact[:3] == item[:3])


def parameter_facts(layer: str, name: str, value: Any) -> tuple[Fact, ...]:
    """What a parameter value counts as, in both spaces."""
    return (*_paper_facts(layer, name, value), *_full_facts(layer, name, value))


@lru_cache(maxsize=10_000, typed=True)
def _full_facts(layer: str, name: str, value: Any) -> tuple[Fact, ...]:
    if CATALOGUE[layer].params[name].effect != "forward":
        return ()
    return (Fact("parameters", layer, name, _text(value)),)


@lru_cache(maxsize=10_000, typed=True)
def _paper_facts(layer: str, name: str, value: Any) -> tuple[Fact, ...]:
    """A value as the paper names it; where the paper lists "numeric", any number will do."""
    paper = _TODAY.get((layer, name), name)
    listed = paper_table()["layers"].get(layer, {"parameters": {}})["parameters"].get(paper, {}).get("values", ())
    named = NUMERIC if NUMERIC in listed and value is not None else _text(value)
    return (Fact("parameters", layer, paper, named),)


def _text(value: Any) -> str:
    return text(value.layer) if isinstance(value, Inner) else text(value)


def merged(coverages: Iterable[Coverage]) -> Mapping[str, Coverage]:
    """Coverages of several processes, put together space by space."""
    result: dict[str, Coverage] = {}
    for coverage in coverages:
        result.setdefault(coverage.space.name, Coverage(coverage.space)).merge(coverage)
    return result
