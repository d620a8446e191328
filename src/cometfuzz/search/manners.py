"""Manners: some of the cases of every campaign once more, written and handed on in another way.

A model is drawn as a functional one of fixed sizes. Users also leave sizes open, nest models, share layers, write
dictionaries, and export to the opset that they need; what a library does otherwise then shows only there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from cometfuzz.catalogue.manners import (
    at_sizes,
    chain,
    may_be_explicit,
    may_be_open,
    may_lie_inside,
    may_share,
    problems,
)
from cometfuzz.draw import Draw
from cometfuzz.ir.case import PLAIN, Case, Manner
from cometfuzz.ir.graph import INPUT, Graph

OPSETS = range(13, 21)
"""From the oldest that exporters are asked for to the newest that one of ours writes."""

MORE = 3
"""By how much another size may differ."""

TWO_SHARE = 0.3
"""How often a manner is odd in two respects."""

TRIES = 20

Place = tuple[str, int]
"""An input and one of its axes."""


def mannered(case: Case, draw: Draw, exported: bool) -> Case | None:
    """The case in another manner; `exported`: whether converters get it. None if there is none for it."""
    manner = PLAIN
    ways = [name for name in WAYS if exported or name not in EXPORTING]
    for name in draw.shuffled(ways):
        changed = WAYS[name](case.graph, manner, draw)
        if changed == manner or any(True for _ in problems(case.graph, changed)):
            continue
        if manner != PLAIN or not draw.chance(TWO_SHARE):
            return replace(case, manner=changed)
        manner = changed
    return replace(case, manner=manner) if manner != PLAIN else None


def _opset(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    return replace(manner, opset=draw.choice(tuple(OPSETS)))


def _exporter(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    return replace(manner, exporter="export" if draw.chance(0.5) else "from_keras")


def _sequential(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    return replace(manner, sequential=True) if chain(graph) else manner


def _inside(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    """A model inside: nodes that follow each other in the order of the graph."""
    names = [node.id for node in graph.nodes if node.layer != INPUT]
    for _ in range(TRIES):
        start = draw.integer(0, len(names) - 1)
        part = tuple(names[start : start + draw.integer(1, len(names) - start)])
        if may_lie_inside(graph, part):
            return replace(manner, inside=part)
    return manner


def _shared(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    pairs = [
        (one.id, two.id)
        for place, one in enumerate(graph.nodes)
        for two in graph.nodes[place + 1 :]
        if one.layer == two.layer != INPUT and may_share(graph, one, two)
    ]
    return replace(manner, shared=(draw.choice(pairs),)) if pairs else manner


def _named(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    return replace(manner, named=True)


def _explicit(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    return replace(manner, explicit=True) if may_be_explicit(graph) else manner


def _open(graph: Graph, manner: Manner, draw: Draw) -> Manner:
    """Sizes that the graph allows to be others, open; the model runs at one or two others first."""
    shapes = {node.id: node.params.shape for node in graph.inputs}
    together: list[tuple[Place, ...]] = []
    for places in draw.shuffled(list(_groups(shapes))):
        free = {place for group in together for place in group}.isdisjoint(places)
        if free and _valid(graph, shapes, [*together, places], [1] * (len(together) + 1)):
            together.append(places)
        if together and draw.chance(0.4):
            break
    if not together:
        return manner
    axes: dict[str, list[int]] = {}
    for name, axis in sorted(place for group in together for place in group):
        axes.setdefault(name, []).append(axis)
    before = []
    for _ in range(draw.integer(1, 2)):
        steps = [draw.integer(-1, MORE) or 1 for _ in together]
        if not _valid(graph, shapes, together, steps):
            steps = [1] * len(together)
        moved = _moved(shapes, together, steps)
        before.append({name: tuple(moved[name][axis] for axis in each) for name, each in axes.items()})
    return replace(manner, opened={name: tuple(each) for name, each in axes.items()}, before=tuple(before))


def _groups(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[Place, ...]]:
    """Axes that may have to change together: the batch, those of one size, and each by itself."""
    every = [(name, axis) for name, shape in shapes.items() for axis in range(len(shape))]
    yield tuple(place for place in every if place[1] == 0)
    rest = [place for place in every if place[1] > 0]
    for size in sorted({shapes[name][axis] for name, axis in rest}):
        yield tuple((name, axis) for name, axis in rest if shapes[name][axis] == size)
    yield from ((place,) for place in rest)


def _moved(
    shapes: Mapping[str, tuple[int, ...]], groups: list[tuple[Place, ...]], steps: list[int]
) -> dict[str, tuple[int, ...]]:
    by = {place: step for group, step in zip(groups, steps, strict=True) for place in group}
    return {
        name: tuple(size + by.get((name, axis), 0) for axis, size in enumerate(shape)) for name, shape in shapes.items()
    }


def _valid(
    graph: Graph, shapes: Mapping[str, tuple[int, ...]], groups: list[tuple[Place, ...]], steps: list[int]
) -> bool:
    """Whether the graph can have these sizes too; no axis becomes empty by it."""
    moved = _moved(shapes, groups, steps)
    changed = [moved[name][axis] for group in groups for name, axis in group]
    opened = {name: tuple(axis for each, axis in sum(groups, ()) if each == name) for name in shapes}
    return bool(changed) and min(changed) > 0 and at_sizes(graph, moved) is not None and may_be_open(graph, opened)


WAYS: Mapping[str, Callable[[Graph, Manner, Draw], Manner]] = MappingProxyType(
    {
        "opset": _opset,
        "exporter": _exporter,
        "open": _open,
        "sequential": _sequential,
        "inside": _inside,
        "shared": _shared,
        "named": _named,
        "explicit": _explicit,
    }
)
EXPORTING = ("opset", "exporter")
"""What says something to exporters only."""
