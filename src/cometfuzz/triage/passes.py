"""Passes of the reducer: each proposes cases that are simpler in one respect, the boldest first.

A pass proposes; the driver in `reduce` owns the order and the predicate. Structure comes first, then sizes and
parameters, then data.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from cometfuzz.catalogue.data import NUMPY, Array, expected_tensors, to_tensor
from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.manners import fitting, simpler_manners
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.case import PLAIN, Case, Tensor
from cometfuzz.ir.graph import INPUT, Draft, Edge, Inner, Node, Params
from cometfuzz.ir.types import DTYPES, POLICIES, POLICY
from cometfuzz.triage.confirm import activations_of
from cometfuzz.triage.editing import Workpiece

Pass = Callable[[Workpiece], Iterator[Case | None]]
T = TypeVar("T")
PASSES: list[Pass] = []
USUAL_DTYPE, USUAL_LAYER = "float32", "ReLU"
DECIMALS = (0, 1, 2, 3)
SPREAD = (-4.0, -0.75, -0.25, 0.0, 0.25, 0.75, 4.0, 8.0)
NEAR = 8
"""Integers at most so far from the simplest one are tried one by one."""


def reduction(function: Pass) -> Pass:
    """Register a pass; the order of declaration is that of the reducer."""
    PASSES.append(function)
    return function


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """All items, then halves, quarters, and so on down to single ones."""
    size = len(items)
    while size:
        yield from (items[start : start + size] for start in range(0, len(items), size))
        size //= 2


def _layers(piece: Workpiece) -> list[Node]:
    return [node for node in piece.graph.nodes if node.layer != INPUT]


@reduction
def plainer(piece: Workpiece) -> Iterator[Case | None]:
    """The model written and handed on as usual: in all respects, then in each, then in less of one."""
    manner = piece.case.manner
    if manner == PLAIN:
        return
    yield replace(piece.case, manner=PLAIN)
    for each in simpler_manners(manner):
        yield replace(piece.case, manner=fitting(piece.graph, each))


@reduction
def isolate(piece: Workpiece) -> Iterator[Case | None]:
    """One node with the values that it sees, the last ones first; then all that one node stands on."""
    nodes = _layers(piece)
    if len(nodes) > 1:
        for node in reversed(nodes):
            yield piece.alone(node.id, piece.values)


@reduction
def drop_outputs(piece: Workpiece) -> Iterator[Case | None]:
    """One output alone, then all but one."""
    outputs = piece.graph.outputs
    if len(outputs) > 1:
        for edge in outputs:
            yield piece.rebuilt(piece.graph.drafts, [edge])
        for edge in outputs:
            yield piece.rebuilt(piece.graph.drafts, [other for other in outputs if other != edge])


@reduction
def end_earlier(piece: Workpiece) -> Iterator[Case | None]:
    """The model ends in what its last layer reads."""
    for edge in piece.graph.outputs:
        node = piece.graph.by_id[edge.node]
        before = [source for source in node.inputs if piece.graph.by_id[source.node].layer != INPUT]
        rest = [other for other in piece.graph.outputs if other.node != edge.node]
        if before:
            yield piece.rebuilt(piece.graph.drafts, [*rest, *before])


@reduction
def bypass_utilities(piece: Workpiece) -> Iterator[Case | None]:
    """Our own repairs first: what needs one is not counted."""
    yield from _bypass(piece, [node for node in _layers(piece) if CATALOGUE[node.layer].kind == "utility"])


@reduction
def bypass_layers(piece: Workpiece) -> Iterator[Case | None]:
    """Each layer replaced by one of its inputs, or by an input with the values that it gives."""
    yield from _bypass(piece, _layers(piece))


def _bypass(piece: Workpiece, nodes: Sequence[Node]) -> Iterator[Case | None]:
    if len(_layers(piece)) < 2:
        return
    for node in nodes:
        for source in node.inputs:
            yield _redirected(piece, node, source)
        keep = [other.id for other in piece.graph.nodes if other.id != node.id]
        outputs = [edge for edge in piece.graph.outputs if edge.node != node.id]
        if outputs:
            yield piece.part(keep, outputs, piece.values)


def _redirected(piece: Workpiece, node: Node, source: Edge) -> Case | None:
    """Whoever reads a node reads `source` instead."""

    def moved(edge: Edge) -> Edge:
        return source if edge.node == node.id else edge

    drafts = [
        draft._replace(inputs=tuple(map(moved, draft.inputs))) for draft in piece.graph.drafts if draft.id != node.id
    ]
    outputs = [edge for edge in map(moved, piece.graph.outputs) if piece.graph.by_id[edge.node].layer != INPUT]
    return piece.rebuilt(drafts, outputs) if outputs else None


@reduction
def fewer_inputs(piece: Workpiece) -> Iterator[Case | None]:
    """A layer reads one input less, or the same one twice."""
    for node in _layers(piece):
        if len(node.inputs) > 1:
            for place in range(len(node.inputs)):
                yield _changed(piece, node, inputs=(*node.inputs[:place], *node.inputs[place + 1 :]))
            if CATALOGUE[node.layer].states is not None and len(node.inputs) > 2:
                yield _changed(piece, node, inputs=node.inputs[:1])
            if len(set(node.inputs)) > 1:
                yield _changed(piece, node, inputs=(node.inputs[0],) * len(node.inputs))


def _changed(piece: Workpiece, node: Node, **changes: Any) -> Case | None:
    drafts = [draft._replace(**changes) if draft.id == node.id else draft for draft in piece.graph.drafts]
    return piece.rebuilt(drafts, piece.graph.outputs)


@reduction
def plain_layers(piece: Workpiece) -> Iterator[Case | None]:
    """ReLU instead of a layer: where that fails too, the layer does not matter."""
    for node in _layers(piece):
        if node.layer != USUAL_LAYER and len(node.inputs) == 1:
            yield _changed(piece, node, layer=USUAL_LAYER, params={})


@reduction
def unwrap(piece: Workpiece) -> Iterator[Case | None]:
    """The layer inside a wrapper, or the activation of a layer, by itself and on what it sees."""
    for node in _layers(piece):
        for value in node.params.values():
            if isinstance(value, Inner) and CATALOGUE[value.layer].kind != "cell":
                yield _changed(piece, node, layer=value.layer, params=value.params)
                yield _on_one_step(piece, node, value)
        if node.layer != "Activation":
            for name in activations_of(node.params):
                yield _activation(piece, node, name, np.array([SPREAD]))
            if (seen := _before_activation(piece, node)) is not None:
                yield _activation(piece, node, node.params.activation, seen)


def _activation(piece: Workpiece, node: Node, name: str, numbers: Array) -> Case | None:
    """An activation by itself, on some numbers: those of both signs, small and large, or what it sees in its layer."""
    case = _instead(piece, node, "Activation", Params({"activation": name}), numbers.shape)
    if case is None:
        return None
    (source,) = case.graph.inputs
    return replace(case, data={source.id: to_tensor(numbers.astype(NUMPY[source.outputs[0].dtype]))})


def _before_activation(piece: Workpiece, node: Node) -> Array | None:
    """What the activation of a layer sees: the result of the layer without it."""
    if "activation" not in node.params:
        return None
    plain = _changed(piece, node, params=node.params.replace(activation="linear"))
    return None if plain is None else Workpiece(plain).values.get(Edge(node.id))


def _on_one_step(piece: Workpiece, node: Node, inner: Inner) -> Case | None:
    """The layer inside TimeDistributed, which sees one step of the sequence."""
    shape = piece.graph.input_types(node)[0].shape
    return _instead(piece, node, inner.layer, inner.params, (shape[0], *shape[2:])) if len(shape) > 2 else None


def _instead(piece: Workpiece, node: Node, layer: str, params: Params, shape: tuple[int, ...]) -> Case | None:
    """A node replaced by another layer that reads an input of its own."""
    kind = piece.graph.input_types(node)[0]
    source = Draft(f"at_{node.id}", INPUT, {**input_params(kind), "shape": shape}, ())
    call = Draft(node.id, layer, params, (Edge(source.id),))
    drafts = [part for draft in piece.graph.drafts for part in ((source, call) if draft.id == node.id else (draft,))]
    return piece.rebuilt(drafts, [Edge(node.id)])


@reduction
def shrink(piece: Workpiece) -> Iterator[Case | None]:
    """Smaller inputs: everything at once, the batch, an axis less, each size wherever it occurs, then single axes."""
    inputs = piece.graph.inputs
    for rank in range(2, max((len(node.params.shape) for node in inputs), default=0)):
        yield _resized(piece, {node.id: (*node.params.shape[:1], *node.params.shape[1 - rank :]) for node in inputs})
    for axis in range(1, max((len(node.params.shape) for node in inputs), default=0)):
        yield _resized(piece, {node.id: (*node.params.shape[:axis], *node.params.shape[axis + 1 :]) for node in inputs})
    yield _resized(piece, {node.id: (1,) * len(node.params.shape) for node in inputs})
    yield _resized(piece, {node.id: (1, *node.params.shape[1:]) for node in inputs if node.params.shape})
    sizes = sorted({size for node in inputs for size in node.params.shape}, reverse=True)
    for size in sizes:
        for smaller in _smaller(size):
            yield _resized(
                piece, {node.id: tuple(smaller if n == size else n for n in node.params.shape) for node in inputs}
            )
    for node in inputs:
        for axis, size in enumerate(node.params.shape):
            for smaller in _smaller(size):
                shape = (*node.params.shape[:axis], smaller, *node.params.shape[axis + 1 :])
                yield _resized(piece, {node.id: shape})


def _smaller(size: int) -> list[int]:
    """What to try instead of a size; an empty axis is odder than one of size 1."""
    if size == 0:
        return [1, 2]
    return [value for value in dict.fromkeys((1, 2, 3, 4, size // 2, size - 1)) if 0 < value < size]


def _resized(
    piece: Workpiece, shapes: Mapping[str, tuple[int, ...]], data: Mapping[str, Tensor] | None = None
) -> Case | None:
    drafts = [
        draft._replace(params={**draft.params, "shape": shapes[draft.id]}) if draft.id in shapes else draft
        for draft in piece.graph.drafts
    ]
    return piece.rebuilt(drafts, piece.graph.outputs, data)


@reduction
def keep_the_end(piece: Workpiece) -> Iterator[Case | None]:
    """Smaller inputs that keep what stands last on an axis: `shrink` keeps what stands first."""
    inputs = [node for node in piece.graph.inputs if math.prod(node.params.shape)]
    for axis, size in dict.fromkeys(place for node in inputs for place in enumerate(node.params.shape)):
        shorter = [node for node in inputs if node.params.shape[axis : axis + 1] == (size,)]
        for smaller in [value for value in dict.fromkeys((1, size // 2)) if 0 < value < size]:
            ends = {node.id: piece.data.inputs[node.id].take(range(size - smaller, size), axis) for node in shorter}
            data = {**piece.case.data, **{name: to_tensor(array) for name, array in ends.items()}}
            yield _resized(piece, {name: array.shape for name, array in ends.items()}, data)


@reduction
def simplest_parameters(piece: Workpiece) -> Iterator[Case | None]:
    """Parameters at their simplest value, many at once; then single ones nearer to it."""
    odd = [
        (node.id, name)
        for node in _layers(piece)
        for name, value in node.params.items()
        if repr(value) != repr(_simplest(node.layer, name))
    ]
    hidden = [
        (name, parameter)
        for name, parameter in odd
        if (space := CATALOGUE[piece.graph.by_id[name].layer].params.get(parameter)) and space.effect != "forward"
    ]
    if hidden:
        yield _simplified(piece, hidden)
    for chunk in chunks(odd):
        yield _simplified(piece, chunk)
    for name, parameter in odd:
        node = piece.graph.by_id[name]
        for value in _nearer(node.params[parameter], _simplest(node.layer, parameter)):
            yield _changed(piece, node, params=node.params.replace(**{parameter: value}))


def _simplest(layer: str, parameter: str) -> Any:
    """The simplest value of a parameter; that of a policy is None, which is none."""
    return CATALOGUE[layer].complete({}).get(parameter)


def _simplified(piece: Workpiece, places: Sequence[tuple[str, str]]) -> Case | None:
    drafts = []
    for draft in piece.graph.drafts:
        names = {name: _simplest(draft.layer, name) for node, name in places if node == draft.id}
        drafts.append(draft._replace(params={**draft.params, **names}) if names else draft)
    return piece.rebuilt(drafts, piece.graph.outputs)


def _nearer(value: Any, simplest: Any) -> Iterator[Any]:
    """Values between the simplest one and the given one, the simplest first."""
    if isinstance(value, Inner):
        yield from _nearer_inside(value)
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            plain = simplest[place] if isinstance(simplest, tuple) and len(simplest) == len(value) else None
            if repr(item) != repr(plain):
                for nearer in ([plain] if plain is not None else []) + list(_nearer(item, plain)):
                    yield (*value[:place], nearer, *value[place + 1 :])
    elif type(value) is int:
        low = simplest if type(simplest) is int else 1
        step = 1 if value > low else -1
        places = range(low, value, step)
        yield from (
            places if len(places) <= NEAR else [low, low + step, low + 2 * step, (low + value) // 2, value - step]
        )
    elif type(value) is float:
        yield from (short for digits in DECIMALS[:3] if (short := round(value, digits)) != value)


def _nearer_inside(inner: Inner) -> Iterator[Inner]:
    """A wrapper's layer with simpler parameters."""
    plain = CATALOGUE[inner.layer].complete({})
    odd = [name for name, value in inner.params.items() if repr(value) != repr(plain[name])]
    for chunk in chunks(odd):
        yield replace(inner, params=inner.params.replace(**{name: plain[name] for name in chunk}))
    for name in odd:
        for value in _nearer(inner.params[name], plain[name]):
            yield replace(inner, params=inner.params.replace(**{name: value}))


@reduction
def plain_dtypes(piece: Workpiece) -> Iterator[Case | None]:
    """float32 instead of any other dtype: everywhere, then at each input."""
    odd = [
        node.id for node in piece.graph.nodes if node.params.get("dtype") in DTYPES and node.params.dtype != USUAL_DTYPE
    ]
    for chunk in chunks(odd):
        drafts = [
            draft._replace(
                params={**draft.params, "dtype": USUAL_DTYPE, **({"high": None} if "high" in draft.params else {})}
            )
            if draft.id in chunk
            else draft
            for draft in piece.graph.drafts
        ]
        yield piece.rebuilt(drafts, piece.graph.outputs)


@reduction
def without_policies(piece: Workpiece) -> Iterator[Case | None]:
    """No policy, and inputs of the dtype in which it computes: if that fails too, mixed precision is not the point."""
    for node in _layers(piece):
        if POLICY in node.params:
            dtype, reads = POLICIES[node.params[POLICY]][0], {edge.node for edge in node.inputs}
            drafts = [
                draft._replace(params={**draft.params, "dtype": dtype, "high": None})
                if draft.id in reads and draft.layer == INPUT
                else draft._replace(params={**draft.params, POLICY: None} if draft.id == node.id else draft.params)
                for draft in piece.graph.drafts
            ]
            yield piece.rebuilt(drafts, piece.graph.outputs)


@reduction
def simple_data(piece: Workpiece) -> Iterator[Case | None]:
    """Zeros, ones, short decimals: all tensors at once, then one after the other."""
    keys = list(expected_tensors(piece.graph))
    for chunk in (keys, *([key] for key in keys)) if len(keys) > 1 else (keys,):
        for simple in _SIMPLER if len(chunk) == 1 else _SIMPLER[1:]:
            yield _with_data(piece, {key: simple(tensor_of(piece, key)) for key in chunk})


def filled(case: Case) -> Case | None:
    """The case with ones in its inputs where these are all zeros; None if none are."""
    piece = Workpiece(case)
    empty = [node.id for node in case.graph.inputs if _blank(piece.data.inputs[node.id])]
    return _with_data(piece, {name: np.ones_like(piece.data.inputs[name]) for name in empty}) if empty else None


def _blank(array: Array) -> bool:
    return array.size > 0 and not array.any()


def tensor_of(piece: Workpiece, key: str) -> Array:
    """The values behind a key of `Case.data`."""
    node, _, weight = key.partition("/")
    return piece.data.weights[node][weight] if weight else piece.data.inputs[node]


def _round(digits: int) -> Callable[[Array], Array]:
    return lambda array: (np.round(array.astype(np.float64), digits) + 0.0).astype(array.dtype)  # + 0.0: no -0.0


_SIMPLER: tuple[Callable[[Array], Array], ...] = (
    np.zeros_like,
    np.ones_like,
    *(_round(digits) for digits in DECIMALS),
)


def _with_data(piece: Workpiece, changes: dict[str, Array]) -> Case | None:
    """The case with some tensors given; None if an integer would leave its range."""
    for node in piece.graph.inputs:
        high = node.params.high
        if node.id in changes and high is not None and changes[node.id].size and int(changes[node.id].max()) >= high:
            return None
    data = {**piece.case.data, **{key: to_tensor(array) for key, array in changes.items()}}
    return replace(piece.case, data=data)
