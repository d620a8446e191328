"""Manners: which of them a graph allows, what is left of one when the graph changes, and the graph at other sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from cometfuzz.catalogue.cutting import Part
from cometfuzz.catalogue.data import weight_shapes
from cometfuzz.catalogue.spec import CATALOGUE, LAYER
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import PLAIN, Case, Manner
from cometfuzz.ir.graph import INPUT, Edge, Graph, Inner, Node, is_operator
from cometfuzz.ir.types import TensorType

Shapes = Mapping[str, tuple[int, ...]]

FIRST_OPSET, LAST_OPSET = 13, 28
"""The ONNX opsets that a case may name: from the oldest that today's exporters write to the newest that onnx 1.23 has.
What an exporter or a reader knows of them, its route asks the library."""

FAR = (61, 62)
"""How much larger an open size is made, to see whether anything depends on it: by more than windows are wide."""

FIXED = ("reshape", "special")
"""Utility nodes that are built with all sizes in them. So are operators: many take sizes as parameters, and Keras
promises little of them where sizes are open."""

FIXED_SPACE = ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
"""Layers that say that they take only spatial sizes which are known when they are built."""


EXPLICIT = ("LSTM", "GRU", "SimpleRNN")
"""Layers whose calls take an initial state and a mask."""

CAST = ("IntegerLookup",)
"""Layers whose results are cast, so that their call is more than `layer(x)`."""


def at_sizes(graph: Graph, shapes: Shapes) -> Graph | None:
    """The graph with other input shapes; None if a model that was built once cannot have both.

    Weights must have the same shapes, and nodes that are built with all sizes in them see no other ones.
    """
    drafts = [
        draft._replace(params={**draft.params, "shape": shapes[draft.id]}) if draft.id in shapes else draft
        for draft in graph.drafts
    ]
    try:
        other = assemble(drafts, graph.outputs)
    except InvalidCase:
        return None
    for one, two in zip(graph.nodes, other.nodes, strict=True):
        if _is_fixed(one, graph.input_types(one), other.input_types(two)):
            return None
        if weight_shapes(graph, one) != weight_shapes(other, two):
            return None
    return other


def may_be_open(graph: Graph, opened: Shapes) -> bool:
    """Whether axes can be without a size: at sizes that are far from the graph's own it is valid with the same weights.

    Near ones would not do: behind a pooling window, 5 and 6 may come to the same.
    """
    return all(
        at_sizes(
            graph,
            {
                node.id: tuple(
                    size + far * (axis in opened.get(node.id, ())) for axis, size in enumerate(node.params.shape)
                )
                for node in graph.inputs
            },
        )
        is not None
        for far in FAR
    )


def _is_fixed(node: Node, types: Sequence[TensorType], others: Sequence[TensorType]) -> bool:
    """Whether a node is built for sizes that are others now."""
    layers = {node.layer, *(each.layer for each in node.params.values() if isinstance(each, Inner))}
    parts = [slice(0, None)] if node.layer in FIXED or is_operator(node.layer) else []
    parts += [slice(2, None)] if layers.intersection(FIXED_SPACE) else []
    parts += [slice(1, 2)] if _has(node.params, "unroll") else []  # a loop that is written out step by step
    return any(one.shape[at] != two.shape[at] for one, two in zip(types, others, strict=True) for at in parts)


def earlier(graph: Graph, manner: Manner) -> list[Graph | None]:
    """The graph at each of the sizes at which its model runs before its own."""
    shapes = {node.id: manner.earlier(node.id, node.params.shape) for node in graph.inputs}
    return [
        at_sizes(graph, {name: each[index] for name, each in shapes.items()}) for index in range(len(manner.before))
    ]


def exchanged(case: Case, index: int = 0) -> Case | None:
    """The case at one of its other sizes: the same model, which runs at the case's own sizes before. Inputs are drawn
    anew."""
    manner = case.manner
    graph = earlier(case.graph, manner)[index]
    if graph is None:
        return None
    own = {name: _along(case.graph.by_id[name].params.shape, axes) for name, axes in manner.opened.items()}
    before = tuple(own if place == index else sizes for place, sizes in enumerate(manner.before))
    weights = {key: tensor for key, tensor in case.data.items() if "/" in key}
    return replace(case, graph=graph, data=weights, manner=replace(manner, before=before))


def _along(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(shape[axis] for axis in axes)


def keeps_state(graph: Graph) -> bool:
    """Whether a layer has a state for each row of a batch."""
    return any(_has(node.params, "stateful") for node in graph.nodes)


def _has(params: Mapping[str, object], name: str) -> bool:
    """Whether a layer, or one inside it, has a parameter set."""
    inner = [each for each in params.values() if isinstance(each, Inner)]
    return params.get(name) is True or any(_has(each.params, name) for each in inner)


def chain(graph: Graph) -> bool:
    """Whether a graph can be a Sequential: layers that read one tensor and give one, one after the other."""
    last = ""
    for node in graph.nodes:
        if node.layer == INPUT and last:
            return False
        if node.layer != INPUT and (node.inputs != (Edge(last),) or len(node.outputs) > 1 or not _called_plainly(node)):
            return False
        last = node.id
    return graph.outputs == (Edge(last),) and graph.nodes[-1].layer != INPUT


def _called_plainly(node: Node) -> bool:
    """Whether `layer(x)` is all there is to a call."""
    spec = CATALOGUE[node.layer]
    return spec.kind == LAYER and node.layer not in CAST and not any(node.params[name] for name in spec.call_params)


def may_share(graph: Graph, one: Node, two: Node) -> bool:
    """Whether one layer can be both nodes."""
    types = [[(kind.dtype, kind.rank) for kind in graph.input_types(node)] for node in (one, two)]
    return (
        CATALOGUE[one.layer].kind == LAYER
        and (one.layer, one.params) == (two.layer, two.params)
        and types[0] == types[1]
        and weight_shapes(graph, one) == weight_shapes(graph, two)
        and not _has(one.params, "stateful")
    )


def may_be_explicit(graph: Graph) -> bool:
    """Whether some call can say what it begins with: there is one of a recurrent layer, and none keeps a state."""
    return any(node.layer in EXPLICIT for node in graph.nodes) and not keeps_state(graph)


def may_lie_inside(graph: Graph, names: Sequence[str]) -> bool:
    """Whether nodes can be a model inside: no way leads out of them and back, and no mask goes in or out unseen."""
    after: set[str] = set()
    chosen = set(names)
    for node in graph.nodes:
        sources = {edge.node for edge in node.inputs}
        if node.id in chosen and (node.layer == INPUT or sources & after):
            return False
        if node.id not in chosen and sources & (chosen | after):
            after.add(node.id)
        for edge in node.inputs:
            if ((edge.node in chosen) != (node.id in chosen)) and graph.type_of(edge).masked:
                return False
    return chosen <= graph.by_id.keys()


def problems(graph: Graph, manner: Manner) -> Iterator[tuple[str, str]]:
    """What of a manner a graph does not allow: the field, and why."""
    if manner.opset and not FIRST_OPSET <= manner.opset <= LAST_OPSET:
        yield "opset", f"expected 0 or {FIRST_OPSET} to {LAST_OPSET}; received opset={manner.opset}"
    if manner.sequential and not chain(graph):
        yield "sequential", "expected layers that read one tensor and give one, in a row; received another graph"
    if manner.inside and (len(set(manner.inside)) < len(manner.inside) or not may_lie_inside(graph, manner.inside)):
        yield "inside", f"expected nodes that no way leads out of and back; received {_shown(manner.inside)}"
    if manner.sequential and (manner.inside or manner.named or manner.shared):
        yield "sequential", "expected nothing inside, shared or named; received some"
    if manner.explicit and (manner.sequential or manner.opened or not may_be_explicit(graph)):
        yield "explicit", "expected recurrent layers without a state of their own, of fixed sizes; received others"
    yield from _sharing_problems(graph, manner)
    if not manner.opened.keys() <= {node.id for node in graph.inputs}:
        yield "opened", f"expected inputs of the graph; received {_shown(manner.opened)}"
    elif any(_misplaced(graph, name, axes) for name, axes in manner.opened.items()):
        yield "opened", "expected some axes of each input, in order; received others"
    elif manner.opened and keeps_state(graph):
        yield "opened", "expected layers that keep no state; received a stateful one"
    elif manner.opened and not may_be_open(graph, manner.opened):
        yield "opened", "expected axes on which no weight and no rule depends; received others"
    elif any({name: len(sizes) for name, sizes in each.items()} != _counts(manner) for each in manner.before):
        yield "before", "expected a size for each opened axis; received others"
    elif None in earlier(graph, manner):
        yield "before", "expected sizes at which the graph is valid with the same weights; received others"


def _sharing_problems(graph: Graph, manner: Manner) -> Iterator[tuple[str, str]]:
    names = [name for group in manner.shared for name in group]
    if len(set(names)) < len(names) or not set(names) <= graph.by_id.keys():
        yield "shared", f"expected nodes of the graph, each once; received {_shown(names)}"
        return
    groups = [[graph.by_id[name] for name in group] for group in manner.shared]
    if any(len(group) < 2 or not all(may_share(graph, group[0], node) for node in group) for group in groups):
        yield "shared", f"expected calls that one layer can be; received {_shown(names)}"
    if any(len({node.id in manner.inside for node in group}) > 1 for group in groups):
        yield "shared", f"expected nodes on one side of the model inside; received {_shown(names)}"


def _misplaced(graph: Graph, name: str, axes: Sequence[int]) -> bool:
    rank = len(graph.by_id[name].params.shape)
    return not axes or list(axes) != sorted(set(axes)) or axes[-1] >= rank


def _counts(manner: Manner) -> dict[str, int]:
    return {name: len(axes) for name, axes in manner.opened.items()}


def _shown(names: object) -> str:
    return f"{', '.join(names)!r:.80}" if isinstance(names, list | tuple | dict) else ""


def expect_manner(graph: Graph, manner: Manner) -> None:
    """InvalidCase if a graph does not allow a manner."""
    for name, problem in problems(graph, manner):
        raise InvalidCase(f"$.manner.{name}: {problem}")


def fitting(graph: Graph, manner: Manner) -> Manner:
    """What a changed graph still allows of a manner; inputs that are gone, and axes, are forgotten."""
    if manner == PLAIN:
        return manner
    known = graph.by_id
    shared = [tuple(name for name in group if name in known) for group in manner.shared]
    opened, before = _fitting_sizes(graph, manner)
    kept = replace(
        manner,
        inside=tuple(name for name in manner.inside if name in known),
        shared=tuple(group for group in shared if len(group) > 1),
        opened=opened,
        before=before,
    )
    while wrong := [name for name, _ in problems(graph, kept)]:
        kept = without(kept, wrong[0])
    return kept


def without(manner: Manner, name: str) -> Manner:
    """A manner with one field as in the plain one."""
    plain = replace(manner, before=()) if name == "opened" else manner
    changes: dict[str, Any] = {name: getattr(PLAIN, name)}
    return replace(plain, **changes)


def _fitting_sizes(graph: Graph, manner: Manner) -> tuple[Shapes, tuple[Shapes, ...]]:
    """The opened axes that are still there, and the other sizes of these."""
    ranks = {node.id: len(node.params.shape) for node in graph.inputs}
    kept = [(name, axes) for name, axes in manner.opened.items() if name in ranks]
    opened = {name: tuple(axis for axis in axes if axis < ranks[name]) for name, axes in kept}
    opened = {name: axes for name, axes in opened.items() if axes}
    before = tuple({name: each[name][: len(axes)] for name, axes in opened.items()} for each in manner.before)
    return opened, before if opened else ()


def of_part(whole: Case, part: Part) -> Manner:
    """The manner of a part that was cut out: what stands for an edge is open where that edge is."""
    manner = whole.manner
    if not manner.opened:
        return fitting(part.graph, manner)
    others = [graph for graph in earlier(whole.graph, manner) if graph is not None]
    opened, before = dict(manner.opened), [dict(each) for each in manner.before]
    for name, edge in part.cut.items():
        shapes = [whole.graph.type_of(edge).shape, *(graph.type_of(edge).shape for graph in others)]
        axes = tuple(axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1)
        if axes and others:
            opened[name] = axes
            for sizes, shape in zip(before, shapes[1:], strict=True):
                sizes[name] = _along(shape, axes)
    return fitting(part.graph, replace(manner, opened=opened, before=tuple(before)))


def manner_size(manner: Manner) -> int:
    """How much there is to a manner: 0 for the plain one."""
    names = len(manner.inside) + sum(map(len, manner.shared))
    axes = sum(map(len, manner.opened.values()))
    return 100 * len(odd_fields(manner)) + 10 * (len(manner.before) + axes) + names


def odd_fields(manner: Manner) -> list[str]:
    """The fields that are not as in the plain manner."""
    return [each.name for each in fields(Manner) if getattr(manner, each.name) != getattr(PLAIN, each.name)]


def within(less: Manner, more: Manner) -> bool:
    """Whether one manner does nothing that another does not do, whichever nodes or sizes it does it with."""
    return set(odd_fields(less)) <= set(odd_fields(more)) and (not less.opset or less.opset == more.opset)


def manner_words(manner: Manner) -> list[str]:
    """What is odd in a manner, as it stands in a title; which nodes and sizes are is for the case to say."""
    words = {
        "opset": f"opset {manner.opset}",
        "exporter": "Keras' own export" if manner.exporter == "export" else manner.exporter,
        "sequential": "a Sequential",
        "inside": "a model inside",
        "shared": "a shared layer",
        "named": "dictionaries",
        "explicit": "initial states and masks given",
        "opened": "open sizes",
        "before": "run at other sizes before",
    }
    return [words[name] for name in odd_fields(manner)]


def simpler_manners(manner: Manner) -> Iterator[Manner]:
    """Manners that are nearer to the plain one: without a field, then with less in it."""
    for field in odd_fields(manner):
        yield without(manner, field)
    for index in range(len(manner.before)):
        yield replace(manner, before=manner.before[:index] + manner.before[index + 1 :])
    for name, axes in manner.opened.items():
        for axis in axes:
            yield _closed(manner, name, axis)
    for group in manner.shared:
        yield replace(manner, shared=tuple(other for other in manner.shared if other != group))
    for name in (*manner.inside[:1], *manner.inside[-1:]):
        yield replace(manner, inside=tuple(other for other in manner.inside if other != name))


def _closed(manner: Manner, name: str, axis: int) -> Manner:
    """The manner with one axis of one input less to be open."""
    kept = [place for place, each in enumerate(manner.opened[name]) if each != axis]

    def less(values: Shapes) -> Shapes:
        found = {**values, name: _along(values[name], kept)}
        return {key: value for key, value in found.items() if value}

    opened = less(manner.opened)
    return replace(manner, opened=opened, before=tuple(map(less, manner.before)) if opened else ())
