"""Muffin's four structures: a chain of layers, chains that are merged, a graph of layers, and cells in a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import Dialect
from cometfuzz.mutation.repair import Editor
from cometfuzz.search.baselines.muffin_layers import (
    LEAST,
    MERGING,
    MOST,
    POOLING,
    VOCABULARY,
    draw_params,
    may_stand,
)

NODES = 5
ENDS = 3
"""The most inputs and outputs of a graph of layers."""

NEXT = 0.9
"""How often a node of a graph is followed by the next one."""

PIECE = 3
"""The least layers of a chain that ends in a merging layer or in an asked shape."""

NORMAL, REDUCTION = 10, 2
"""The nodes of the two kinds of cells; there are a normal one, a reduction cell and a normal one."""

CLASSES = 10

Weigh = Callable[[str], float]


@dataclass
class Sketch:
    """A model in the making. names: the layers to draw from; weigh: how likely each is."""

    editor: Editor
    draw: Draw
    dialect: Dialect
    names: Sequence[str]
    weigh: Weigh

    def input(self, shape: Sequence[int]) -> Edge:
        kind = TensorType("float32", tuple(shape))
        return Edge(self.editor.add(INPUT, input_params(kind), ()).id)

    def draw_shape(self, batch: int, rank: int = 0) -> tuple[int, ...]:
        rank = rank or self.draw.integer(LEAST, MOST)
        return (batch, *(self.draw.integer(LEAST, MOST) for _ in range(rank - 1)))

    def before(self, edge: Edge) -> Node:
        return self.editor.nodes[edge.node]

    def step(self, edge: Edge, names: Sequence[str] | None = None) -> Edge:
        """One more layer, if one fits; else the place is skipped."""
        kind = self.editor.type_of(edge)
        fitting = [
            name
            for name in (self.names if names is None else names)
            if self.dialect.has(name) and name not in MERGING and may_stand(name, self.before(edge).layer, kind)
        ]
        while fitting:
            name = self.choose(fitting)
            fitting.remove(name)
            try:
                return self.put(name, edge)
            except Inapplicable:
                continue
        return edge

    def put(self, name: str, edge: Edge) -> Edge:
        source = self.before(edge)
        if name == "Embedding":
            self._count(edge)
        try:
            params = draw_params(name, self.editor.type_of(edge), self.draw, self.dialect.has)
            return Edge(self.editor.add(name, params, (edge,)).id)
        except Inapplicable:
            self.editor.nodes[edge.node] = source
            raise

    def _count(self, edge: Edge) -> None:
        """Let an input of the graph that nobody has read yet be one of words."""
        if self.editor.is_read(edge):
            raise Inapplicable("the input has been read as numbers")
        kind = TensorType("int32", self.editor.type_of(edge).shape, high=VOCABULARY)
        self.editor.add(INPUT, input_params(kind), (), edge.node)

    def choose(self, names: Sequence[str]) -> str:
        """By roulette."""
        at = self.draw.fraction() * sum(map(self.weigh, names))
        for name in names:
            at -= self.weigh(name)
            if at < 0:
                return name
        return names[-1]

    def chain(self, edge: Edge, length: int, target: Sequence[int] | None = None) -> Edge:
        """So many layers; with a target, the last three lead to that shape of an instance."""
        free = length if target is None else max(0, length - PIECE)
        for _ in range(free):
            edge = self.step(edge)
        return edge if target is None else self.lead(edge, target)

    def lead(self, edge: Edge, target: Sequence[int]) -> Edge:
        """Flatten, Dense and Reshape, as far as they are needed."""
        size = 1
        for each in target:
            size *= each
        if self.editor.type_of(edge).rank > 2:
            edge = self._plain("Flatten", {}, edge)
        edge = self._plain("Dense", {"units": size, "use_bias": self.draw.chance(0.5)}, edge)
        return edge if len(target) == 1 else self._plain("Reshape", {"target_shape": tuple(target)}, edge)

    def _plain(self, name: str, params: Mapping[str, object], edge: Edge) -> Edge:
        return Edge(self.editor.add(name, params, (edge,)).id)

    def target(self) -> tuple[int, ...]:
        """The shape of an instance to lead to; a vector where there is no Reshape."""
        if not self.dialect.has("Reshape"):
            return (self.draw.integer(LEAST, MOST),)
        return self.draw_shape(0)[1:]

    def merge(self, edges: Sequence[Edge], free_shape: bool) -> Edge:
        """Chains behind some tensors that end in one shape, and a layer that merges them."""
        names = [
            name
            for name in MERGING
            if (name not in ("Subtract", "Dot") or len(edges) == 2)
            and (name not in ("Concatenate", "Dot") or free_shape)
        ]
        name, shape = self.choose(names), self.target()
        ends = tuple(self.chain(edge, PIECE, shape) for edge in edges)
        types = tuple(map(self.editor.type_of, ends))
        axes = len(shape)
        params: dict[str, object] = {}
        if name == "Concatenate":
            params = {"axis": self.draw.choice((-1, self.draw.integer(1, axes)))}
        elif name == "Dot":
            axis = self.draw.integer(1, axes)
            params = {"axes": self.draw.choice((axis, (axis, axis))), "normalize": self.draw.chance(0.5)}
        complete = CATALOGUE[name].complete(params)
        if not CATALOGUE[name].accepts(types, complete):
            raise Inapplicable(f"{name} does not take what was drawn")
        return Edge(self.editor.add(name, complete, ends).id)

    def finish(self, ends: Sequence[Edge]) -> Graph:
        for edge in ends:
            self.editor.expose(edge)
        if not self.editor.outputs:
            raise Inapplicable("no layer fits")
        return self.editor.finish()


def chain(sketch: Sketch, batch: int, images: bool) -> Graph:
    """Layers in a row. images: on handwritten digits, with a score for each, as in the shipped configuration."""
    start = sketch.input((batch, 28, 28, 1) if images else sketch.draw_shape(batch))
    end = sketch.chain(start, NODES)
    return sketch.finish([sketch.lead(end, (CLASSES,)) if images else end])


def merging(sketch: Sketch, batch: int, images: bool) -> Graph:
    """Two or three chains, the layer that merges them, and a chain behind it."""
    starts = [sketch.input(sketch.draw_shape(batch)) for _ in range(sketch.draw.integer(2, ENDS))]
    return sketch.finish([sketch.chain(sketch.merge(starts, free_shape=True), NODES)])


def dag(sketch: Sketch, batch: int, images: bool) -> Graph:
    """A graph of layers; one with several before it merges them."""
    starts = sketch.draw.integer(1, ENDS)
    inputs = [sketch.input(sketch.draw_shape(batch)) for _ in range(starts)]
    return sketch.finish(connected(sketch, inputs, NODES, sketch.draw.integer(1, ENDS), None))


def cells(sketch: Sketch, batch: int, images: bool) -> Graph:
    """A normal cell, one of poolings and mergers, a normal one, and a score for each class."""
    end = sketch.input(sketch.draw_shape(batch, 4))
    for nodes, names in ((NORMAL, None), (REDUCTION, POOLING), (NORMAL, None)):
        (end,) = connected(sketch, [end], nodes, 1, names)
    end = sketch.lead(end, (CLASSES,))
    return sketch.finish([Edge(sketch.editor.add("Softmax", {}, (end,)).id)])


def connected(
    sketch: Sketch, inputs: Sequence[Edge], nodes: int, outputs: int, names: Sequence[str] | None
) -> list[Edge]:
    """A graph of so many places, the inputs among them, with its open ends; each place is a layer or a merger."""
    draw = sketch.draw
    roles = draw.shuffled(range(1, nodes - 1))
    first = {0, *roles[: min(len(inputs), nodes - 1) - 1]}
    last = {nodes - 1, *[place for place in roles if place not in first][: outputs - 1]}
    before: dict[int, list[int]] = {place: [] for place in range(nodes)}
    for place in range(nodes):
        if place not in last:
            before[_next(place, nodes, first, draw)].append(place)
    for place in range(nodes):
        if place not in first and not before[place]:
            earlier = [each for each in range(place) if each not in last]
            before[place].append(draw.choice(earlier))
    waiting, made = list(inputs), dict[int, Edge]()
    for place in range(nodes):
        sources = [made[each] for each in dict.fromkeys(before[place])]
        if place in first:
            made[place] = waiting.pop(0)
        elif len(sources) > 1:
            made[place] = sketch.merge(sources, free_shape=place not in last)
        elif place in last and names is None:
            made[place] = sketch.chain(sources[0], PIECE + 1, sketch.target())
        else:
            made[place] = sketch.step(sources[0], names)
    return [made[place] for place in sorted(last)]


def _next(place: int, nodes: int, first: set[int], draw: Draw) -> int:
    """The place that reads one: mostly the next, else a later one; an input of the graph reads nothing."""
    later = [each for each in range(place + 1, nodes) if each not in first]
    return place + 1 if place + 1 in later and draw.chance(NEXT) else draw.choice(later)


Structure = Callable[[Sketch, int, bool], Graph]
STRUCTURES: Mapping[str, Structure] = MappingProxyType({"chain": chain, "merging": merging, "dag": dag, "cells": cells})


def build(
    structure: str, draw: Draw, limits: ModelLimits, names: Sequence[str], weigh: Weigh, batch: int, images: bool
) -> Graph:
    """A graph of a structure, out of the layers of the limits' dialect; Inapplicable if it cannot be built."""
    if limits.dialect is None:
        raise ValueError("expected a dialect; received none")
    sketch = Sketch(Editor(Graph((), ()), draw, limits), draw, limits.dialect, names, weigh)
    return STRUCTURES[structure](sketch, batch, images)
