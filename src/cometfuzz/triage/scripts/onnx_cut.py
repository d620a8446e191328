"""Cuts an ONNX model down to the operators that a bug needs: what is cut away leaves the values that were seen there.

A converter makes dozens of operators of one layer. Pure data: who runs a model, and whether it shows the bug, is asked.
Bounded in questions, which makes it deterministic, and in time, which cuts it short.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cometfuzz.triage.scripts.onnx_bodies import (
    fewer_ports,
    first_round,
    inlined,
    made_outside,
    turned,
    with_fewer,
    with_item,
)
from cometfuzz.triage.scripts.onnx_graph import (
    FLOATS,
    NUMPY_DTYPES,
    Fed,
    OnnxGraph,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    all_nodes,
    read_inside,
    simplified,
)

Values = Mapping[str, OnnxTensor]
"""What the names of a graph stand for, as far as it is known."""

Observe = Callable[[Fed], Values]
Show = Callable[[Fed], bool]


@dataclass(frozen=True)
class Effort:
    """How much it may cost: questions whether the bug shows, and seconds."""

    steps: int = 100
    wall_s: float = 40.0


def cut(fed: Fed, observe: Observe, show: Show, effort: Effort | None = None) -> Fed:
    """The smallest model that was found to show the bug; the one that is given if none does.

    `observe` names the values of a run, nothing for a model that cannot be run; both may see any model at all.
    """
    return _Cutter(observe, show, effort or Effort()).cut(fed)


class _Cutter:
    def __init__(self, observe: Observe, show: Show, effort: Effort) -> None:
        self._observe, self._show = observe, show
        self._tried: set[str] = set()
        self._steps, self._until = effort.steps, time.monotonic() + effort.wall_s

    def cut(self, fed: Fed) -> Fed:
        fed = self._first(fed, self._inlined)
        fed = self._fewer_nodes(fed)
        fed = self._first(fed, lambda best: _each(best, fewer_ports))
        fed = self._fewer_inside(fed)
        fed = self._first(fed, lambda best: _each(best, fewer_ports))
        fed = self._first(fed, lambda best: [*_each(best, made_outside), *_each(best, turned)])
        fed = self._fewer_nodes(fed)
        return self._first(fed, lambda best: [*_fewer_ends(best), *_each(best, _fewer_details), *_plainer(best)])

    def _inlined(self, fed: Fed) -> Sequence[Fed]:
        values = self._observe(fed)
        return _each(fed, lambda graph, at: inlined(graph, at, values))

    @property
    def _late(self) -> bool:
        return time.monotonic() > self._until

    def _shows(self, fed: Fed | None) -> bool:
        if fed is None or self._steps <= 0 or self._late or repr(fed) in self._tried:
            return False
        self._tried.add(repr(fed))
        self._steps -= 1
        return self._show(fed)

    def _first(self, fed: Fed, propose: Callable[[Fed], Sequence[Fed]]) -> Fed:
        """Take the first of the proposals that shows the bug, as long as there is one."""
        while (better := next(filter(self._shows, propose(fed)), None)) is not None:
            fed = better
        return fed

    def _fewer_nodes(self, fed: Fed) -> Fed:
        graph, values = fed.model.graph, self._observe(fed)

        def part(kept: Sequence[int]) -> Fed | None:
            candidates = (part_of(fed, values, kept, fold) for fold in (True, False))
            return next(filter(self._shows, candidates), None)

        return _fewest(range(len(graph.nodes)), part) or fed

    def _fewer_inside(self, fed: Fed) -> Fed:
        """The same for the nodes of graphs inside nodes, with the values of the first time that these are run."""
        values = self._observe(fed)
        holders = [node for node in fed.model.graph.nodes if node.graphs]
        for holder, name in [(node, name) for node in holders for name in node.attributes]:
            nodes = fed.model.graph.nodes  # there may be fewer by now
            at = next((place for place, node in enumerate(nodes) if node.outputs == holder.outputs), None)
            body = None if at is None else nodes[at].attributes[name]
            if at is not None and isinstance(body, OnnxGraph):
                start = first_round(fed.model, nodes[at], body, values)
                fed = self._fewest_inside(fed, at, name, {} if start is None else self._observe_part(start))
        return fed

    def _observe_part(self, fed: Fed) -> Values:
        """The values as far as a run gets: a branch that is never taken need not come to an end."""
        seen, count = self._observe(fed), len(fed.model.graph.nodes)
        while not seen and count > 1 and not self._late:
            count -= 1
            graph = replace(fed.model.graph, nodes=fed.model.graph.nodes[:count], outputs=())
            seen = self._observe(replace(fed, model=replace(fed.model, graph=graph)))
        return seen

    def _fewest_inside(self, fed: Fed, at: int, name: str, seen: Values) -> Fed:
        body: OnnxGraph = fed.model.graph.nodes[at].attributes[name]

        def part(kept: Sequence[int]) -> Fed | None:
            smaller = with_fewer(body, kept, seen)
            candidate = None if smaller is None else with_attribute(fed, at, name, smaller)
            return candidate if self._shows(candidate) else None

        return _fewest(range(len(body.nodes)), part) or fed


def _fewest(items: Sequence[int], part: Callable[[Sequence[int]], Fed | None]) -> Fed | None:
    """Halves, then smaller and smaller pieces: one alone, else all but one, as in delta debugging."""
    best: Fed | None = None
    size = len(items) // 2
    while size:
        pieces = [items[start : start + size] for start in range(0, len(items), size)]
        without = [[item for item in items if item not in piece] for piece in pieces]
        tries = [*pieces, *(without if len(pieces) > 2 else [])]
        found = next(((kept, made) for kept in tries if kept and (made := part(kept)) is not None), None)
        if found is not None:
            items, best = found
            size = min(size, len(items) // 2)
        else:
            size //= 2
    return best


def part_of(fed: Fed, values: Values, kept: Sequence[int], fold: bool) -> Fed | None:
    """The model of some of its nodes; None if a value that it then needs, or gives, is not known or not plain.

    What the rest would have given becomes an input with the value seen there; `fold`: a constant, if it comes of
    constants only.
    """
    graph = fed.model.graph
    nodes = [graph.nodes[at] for at in sorted(kept)]
    made = {name for node in nodes for name in node.outputs}
    read = dict.fromkeys(name for node in nodes for name in (*node.inputs, *read_inside(node)))
    fixed = _fixed(graph) if fold else set()
    feeds, constants = dict(fed.feeds), dict(graph.constants)
    for name in _made(graph.nodes):
        if name in read and name not in made:
            if name not in values or (name not in fixed and values[name].dtype not in NUMPY_DTYPES):
                return None
            (constants if name in fixed else feeds)[name] = values[name]
    outputs = _outputs(graph, nodes, values)
    if not outputs or any(value.dtype not in NUMPY_DTYPES for value in outputs):
        return None
    given = {value.name: value for value in graph.inputs}
    inputs = [given.get(name) or _typed(name, feeds[name]) for name in read if name in feeds]
    smaller = OnnxGraph(tuple(inputs), tuple(outputs), constants, tuple(nodes))
    return Fed(simplified(replace(fed.model, graph=smaller)), {value.name: feeds[value.name] for value in inputs})


def _outputs(graph: OnnxGraph, nodes: Sequence[OnnxNode], values: Values) -> list[OnnxValue]:
    """What nodes of a graph give to those that are not among them, and to nobody else."""
    declared = {value.name: value for value in graph.outputs}
    used = {name for node in nodes for name in (*node.inputs, *read_inside(node))}
    wanted = {name for node in graph.nodes for name in (*node.inputs, *read_inside(node))} - used
    return [
        declared[name] if name in declared else _typed(name, values[name])
        for name in _made(nodes)
        if name in declared or (name in wanted and name in values)
    ]


def _made(nodes: Sequence[OnnxNode]) -> list[str]:
    return [name for node in nodes for name in node.outputs if name]


def _typed(name: str, tensor: OnnxTensor) -> OnnxValue:
    return OnnxValue(name, tensor.dtype, tensor.shape)


def _fixed(graph: OnnxGraph) -> set[str]:
    """The names of what comes of constants only."""
    fixed = {"", *graph.constants}
    free = {value.name for value in graph.inputs}
    for node in graph.nodes:
        if fixed.issuperset(node.inputs) and free.isdisjoint(read_inside(node)):
            fixed |= {*node.outputs}
        else:
            free |= {*node.outputs}
    return fixed


def _each(fed: Fed, propose: Callable[[OnnxGraph, int], Iterator[OnnxGraph]]) -> Sequence[Fed]:
    """The model with a node after the other made simpler."""
    found = [graph for at in range(len(fed.model.graph.nodes)) for graph in propose(fed.model.graph, at)]
    return [replace(fed, model=simplified(replace(fed.model, graph=graph))) for graph in found]


def with_attribute(fed: Fed, at: int, name: str, value: OnnxGraph) -> Fed:
    """The model with another graph inside a node."""
    node = fed.model.graph.nodes[at]
    graph = _with_node(fed.model.graph, at, replace(node, attributes={**node.attributes, name: value}))
    return replace(fed, model=simplified(replace(fed.model, graph=graph)))


def _fewer_ends(fed: Fed) -> Iterator[Fed]:
    """The model without inputs that nobody reads, and with one of its outputs."""
    graph = fed.model.graph
    read = {name for node in graph.nodes for name in (*node.inputs, *read_inside(node))}
    inputs = tuple(value for value in graph.inputs if value.name in read)
    if inputs != graph.inputs:
        feeds = {value.name: fed.feeds[value.name] for value in inputs}
        yield Fed(replace(fed.model, graph=replace(graph, inputs=inputs)), feeds)
    if len(graph.outputs) > 1:
        for value in graph.outputs:
            yield replace(fed, model=replace(fed.model, graph=replace(graph, outputs=(value,))))


def _fewer_details(graph: OnnxGraph, at: int) -> Iterator[OnnxGraph]:
    """A node without one of its attributes, or one of its constants; the same inside it."""
    node = graph.nodes[at]
    for name, value in node.attributes.items():
        if isinstance(value, OnnxGraph):
            bodies = (smaller for place in range(len(value.nodes)) for smaller in _fewer_details(value, place))
            changed = [{**node.attributes, name: body} for body in bodies]
        else:
            changed = [{key: each for key, each in node.attributes.items() if key != name}]
        yield from (_with_node(graph, at, replace(node, attributes=attributes)) for attributes in changed)
    for place, name in enumerate(node.inputs):
        if name in graph.constants:
            before, after = node.inputs[:place], node.inputs[place + 1 :]
            for inputs in ((*before, *after), (*before, "", *after)):
                yield _with_node(graph, at, replace(node, inputs=inputs))


def _with_node(graph: OnnxGraph, at: int, node: OnnxNode) -> OnnxGraph:
    return replace(graph, nodes=with_item(graph.nodes, at, node))


def _plainer(fed: Fed) -> Iterator[Fed]:
    """Data of few digits: all zeros, or rounded."""
    for plain in (lambda value: 0.0, lambda value: round(value, 1)):
        feeds = {
            name: replace(tensor, values=tuple(map(plain, tensor.values))) if tensor.dtype in FLOATS else tensor
            for name, tensor in fed.feeds.items()
        }
        if feeds != fed.feeds:
            yield replace(fed, feeds=feeds)


def operators(fed: Fed) -> int:
    """How many nodes a model has, those in bodies included."""
    return sum(1 for _ in all_nodes(fed.model.graph))
