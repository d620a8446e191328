"""One attempt at a small model: layer calls of the original are added one by one, the most useful first.

The moves are those of the mutations, made with their editor: a call is inserted where the graph ends (IL), it merges
several tensors (ML), a layer is called once more so that another can follow it (CL), and utility nodes lead a tensor to
the dtype, rank and shape that a call needs (MDtype, MDims, MShape). But where a mutation draws, a move here is the best
of all that the original's calls allow: a mutation that misses what is wanted costs a layer, and a seed is to be small.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cometfuzz.catalogue.spaces import Ints
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble, type_call
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.synthesis.pruning import closed
from cometfuzz.synthesis.templates import Template, largest_axis, templates_of
from cometfuzz.synthesis.wanted import FULL, PAPER, Wanted, graph_facts

LIMITS = ModelLimits(nodes=400, elements=8192)
TRIES = 20


class _Source(NamedTuple):
    """A tensor that a new layer may read, and the layers it comes from as the two spaces see it."""

    edge: Edge
    kind: TensorType
    direct: str
    through: str


class _Candidate(NamedTuple):
    """A call that could be added."""

    layer: str
    params: Params
    edges: tuple[Edge, ...]
    outputs: tuple[TensorType, ...]


class Builder:
    """A graph that grows toward what is wanted; `step` adds one layer."""

    def __init__(self, original: Graph, wanted: Wanted, draw: Draw) -> None:
        self.draw = draw
        self.templates = templates_of(original)
        self.cap = largest_axis(original)
        inputs = [self._shrunken_input(node) for node in original.inputs]
        graph = assemble(inputs, [Edge(draft.id) for draft in inputs])
        self.wanted = wanted.without(graph)
        self.editor = Editor(graph, draw, LIMITS)
        self.editor.taps = False  # a seed exposes its ends only; mutations may tap what they crop

    def _shrunken_input(self, node: Node) -> Draft:
        kind = node.outputs[0]
        high = None if kind.high is None else min(kind.high, 8)
        return Draft(node.id, INPUT, {**node.params, "shape": self._shrunken(kind.shape), "high": high}, ())

    def _shrunken(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(min(size, self.cap if axis else 2) for axis, size in enumerate(shape))

    def step(self) -> bool:
        """Add the best call there is; False if nothing can be added that helps."""
        sources = list(self._sources())
        return self._direct(sources) or self._enabling(sources) or self._adapted(sources)

    def graph(self) -> Graph:
        """The graph so far; every end is an output."""
        return closed(list(self.editor.nodes.values()))

    def _sources(self) -> Iterator[_Source]:
        for node in self.editor.nodes.values():
            for index, kind in enumerate(node.outputs):
                yield _Source(Edge(node.id, index), kind, node.layer, self._through(node))

    def _through(self, node: Node) -> str:
        """The layer behind a node, as the paper's space sees it: through utility nodes."""
        while CATALOGUE[node.layer].kind == "utility" and node.inputs:
            node = self.editor.nodes[node.inputs[0].node]
        return node.layer

    def _add(self, candidate: _Candidate) -> bool:
        self.editor.add(candidate.layer, candidate.params, candidate.edges)
        self.wanted.cover(graph_facts(Graph(tuple(self.editor.nodes.values()), ())))
        return True

    def _direct(self, sources: Sequence[_Source]) -> bool:
        """IL or ML: the call and the tensors that cover most, without any utility node.

        First come calls that help in every criterion in which their layer needs something: a call that helps in one
        only would have to be made again for the others.
        """
        best, found = (-3, 0), list[_Candidate]()
        needs = self._needs()
        for template in self.templates:
            params = template.sized(self._size)
            value = self.wanted.parameters(template.layer, params)
            needed = needs.get(template.layer, {})
            if not needed:
                continue
            for edges, sequences, inputs in self._places(template, params, sources):
                hits = {"parameters": value, "sequences": sequences, "inputs": inputs}
                missed = sum(not hits[criterion] for criterion in needed)
                score = (-missed, value + sequences + inputs)
                if not score[1] or score < best:
                    continue
                candidate = self._typed(template.layer, params, edges)
                if candidate is not None:
                    if score > best:
                        best, found = score, []
                    found.append(candidate)
        return bool(found) and self._add(self._choose(found))

    def _needs(self) -> dict[str, dict[str, None]]:
        """For each layer, the criteria in which something of it is open; of a sequence, it is the layer behind."""
        needs: dict[str, dict[str, None]] = {}
        for fact in self.wanted.missing():
            layer = fact.value if fact.criterion == "sequences" else fact.layer
            needs.setdefault(layer, {})[fact.criterion] = None
        return needs

    def _choose(self, found: Sequence[_Candidate]) -> _Candidate:
        """Among equals: one that goes on where the graph ends, and whose output has a new shape."""
        read = {edge for node in self.editor.nodes.values() for edge in node.inputs}
        shapes = {kind.shape for node in self.editor.nodes.values() for kind in node.outputs}

        def merit(candidate: _Candidate) -> int:
            return 2 * (candidate.outputs[0].shape not in shapes) + all(edge not in read for edge in candidate.edges)

        most = max(map(merit, found))
        return self.draw.choice([candidate for candidate in found if merit(candidate) == most])

    def _places(
        self, template: Template, params: Params, sources: Sequence[_Source]
    ) -> Iterator[tuple[tuple[Edge, ...], int, int]]:
        """Tensors that a layer may read, with how many sequences and how many input facts they would cover."""
        layer, spec = template.layer, template.spec
        sources = [item for item in sources if item.kind.rank in spec.ranks and item.kind.dtype in spec.dtypes]
        if spec.arity[0] <= 1:
            for source in sources:
                yield (source.edge,), self._sequences(source, layer), self.wanted.inputs(layer, source.kind)
            return
        for group in _groups(sources, params):
            for first in group:
                chosen = self._merged(template, first, group)
                follows = {(source.direct, source.through): source for source in chosen}
                sequences = sum(self._sequences(source, layer) for source in follows.values())
                yield tuple(source.edge for source in chosen), sequences, self.wanted.inputs(layer, first.kind)

    def _merged(self, template: Template, first: _Source, group: Sequence[_Source]) -> list[_Source]:
        """`first`, and tensors that go with it: one for each layer that has still to be merged, at least two in all."""
        chosen, layers = [first], {first.direct}
        most = max(2, min(template.spec.arity[1], len(template.types)))
        for source in group:
            if len(chosen) < most and source.direct not in layers and self._sequences(source, template.layer):
                chosen.append(source)
                layers.add(source.direct)
        others = [source for source in group if source is not first] or [first]
        while len(chosen) < max(2, template.spec.arity[0]):
            chosen.append(self.draw.choice(others))
        return chosen

    def _sequences(self, source: _Source, layer: str) -> int:
        return self.wanted.sequence(FULL, source.direct, layer) + self.wanted.sequence(PAPER, source.through, layer)

    def _typed(self, layer: str, params: Params, edges: tuple[Edge, ...]) -> _Candidate | None:
        outputs = type_call(layer, tuple(self.editor.type_of(edge) for edge in edges), params)
        if isinstance(outputs, list) or any(not 0 < kind.elements <= LIMITS.elements for kind in outputs):
            return None
        return _Candidate(layer, params, edges, outputs)

    def _size(self, layer: str, name: str, value: int, space: Ints) -> int:
        """A size that we would draw; one that the layer has not had yet while different ones are wanted."""
        options = list(range(max(1, space.low), space.high + 1))
        fresh = [size for size in options if self.wanted.wants(FULL, Fact("parameters", layer, name, str(size)))]
        return self.draw.choice(fresh or options)

    def _enabling(self, sources: Sequence[_Source]) -> bool:
        """CL: one more call of a layer, such that another can follow it directly that has still to follow it."""
        for _, fact in list(self.wanted.named):
            if fact.criterion != "sequences":
                continue
            after = [template for template in self.templates if template.layer == fact.value]
            for before in self.draw.shuffled([item for item in self.templates if item.layer == fact.layer]):
                params = before.sized(self._size)
                for source in self.draw.shuffled(sources):
                    candidate = self._typed(before.layer, params, (source.edge,) * max(1, before.spec.arity[0]))
                    if candidate is not None and any(_accepts(item, candidate) for item in after):
                        return self._add(candidate)
        return False

    def _adapted(self, sources: Sequence[_Source]) -> bool:
        """MDtype, MDims, MShape, IL: the call that covers most on a tensor that utility nodes lead to its type."""
        best, choice = 0, None
        for template in self.draw.shuffled(self.templates):
            params = template.sized(self._size)
            value = self.wanted.parameters(template.layer, params)
            for source in self.draw.shuffled(sources):
                for _ in range(TRIES):
                    kind = self._wanted_type(template)
                    score = value + self.wanted.inputs(template.layer, kind)
                    score += self.wanted.sequence(PAPER, source.through, template.layer)
                    if score <= best:
                        break
                    count = max(1, template.spec.arity[0])
                    fitting = self._fitting(template, params, (kind,) * count)
                    if fitting is not None:
                        best, choice = score, (template, fitting, source, kind, count)
                        break
        if choice is None:
            return False
        template, fitting, source, kind, count = choice
        try:
            edge = self.editor.adapt(source.edge, kind)
        except Inapplicable:
            return False
        candidate = self._typed(template.layer, fitting, (edge,) * count)
        return candidate is not None and self._add(candidate)

    def _wanted_type(self, template: Template) -> TensorType:
        """The type that the original's call reads, with sizes drawn."""
        kind = template.types[0]
        low = tuple(1 if size < 4 else 3 for size in kind.shape)
        top = self._shrunken(kind.shape)
        shape = (top[0], *(self.draw.integer(min(a, b), b) for a, b in zip(low[1:], top[1:], strict=True)))
        return TensorType(kind.dtype, shape, high=None if kind.high is None else min(kind.high, 8))

    def _fitting(self, template: Template, params: Params, types: tuple[TensorType, ...]) -> Params | None:
        """The parameters, those that follow from shapes drawn anew if they do not fit."""
        if not isinstance(type_call(template.layer, types, params), list):
            return params
        computed = template.computed()
        if not computed:
            return None
        fixed = {name: value for name, value in params.items() if name not in computed}
        return template.spec.draw_params(self.draw, types, fixed, tries=4)


def _accepts(template: Template, candidate: _Candidate) -> bool:
    """Whether a call of the original could read what a candidate would give."""
    types = (candidate.outputs[0],) * max(1, template.spec.arity[0])
    return not isinstance(type_call(template.layer, types, template.params), list)


def _groups(sources: Sequence[_Source], params: Params) -> list[list[_Source]]:
    """Tensors that can be merged: of one dtype and one shape; along an axis of concatenation, sizes may differ."""
    axis = params.get("axis")
    groups: dict[tuple[str, tuple[int, ...]], list[_Source]] = {}
    for source in sources:
        shape = source.kind.shape
        if type(axis) is int and -len(shape) <= axis < len(shape):
            shape = tuple(0 if place == axis % len(shape) else size for place, size in enumerate(shape))
        groups.setdefault((source.kind.dtype, shape), []).append(source)
    return list(groups.values())
