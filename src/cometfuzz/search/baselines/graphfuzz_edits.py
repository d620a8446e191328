"""GraphFuzz' six edits, and how its first models are wired: blocks of rank 4 whose shapes are made to meet."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor

RANK = 4
MERGERS = ("Add", "Multiply", "Maximum", "Minimum", "Average", "Subtract")
SUBGRAPHS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "convolution block": ("Conv2D", "BatchNormalization", "ReLU"),
        "separable block": ("DepthwiseConv2D", "Conv2D", "ReLU"),
        "pooling block": ("MaxPooling2D", "Conv2D"),
    }
)
"""Blocks of several layers."""

FIRST_NODES, NEIGHBOURS, REWIRED = 6, 2, 0.3
"""How a first model is wired: each node follows the one before and, by a ring, the one before that; a share of the
latter edges leads elsewhere."""

SIZES = (1, 8)


@cache
def blocks() -> tuple[str, ...]:
    """Every layer of one tensor of rank 4 that gives one of rank 4, and the subgraphs."""
    names = [
        name
        for name, spec in LAYERS.items()
        if spec.arity == (1, 1) and RANK in spec.ranks and RANK in spec.output_ranks and "float32" in spec.dtypes
    ]
    return (*names, *SUBGRAPHS)


def add_block(editor: Editor, draw: Draw, block: str) -> None:
    """Put a block behind a tensor; what reads it gets the type it had."""
    node = _any(editor, draw)
    edge = _put(editor, Edge(node.id), block, draw)
    editor.reroute(Node(node.id, node.layer, node.params, node.inputs, node.outputs[:1]), [edge])
    editor.expose(edge)


def remove_block(editor: Editor, draw: Draw, block: str) -> None:
    """Take a block out: who read it reads what it read."""
    node = _of(editor, draw, lambda node: len(node.inputs) == len(node.outputs) == 1, "a block")
    editor.reroute(node, [node.inputs[0]])


def add_edge(editor: Editor, draw: Draw, block: str) -> None:
    """Let a block read a second tensor, merged with what it reads; that one is cut or padded to its shape."""
    node = _of(editor, draw, lambda node: len(node.inputs) == 1, "a block")
    kind, sources = editor.type_of(node.inputs[0]), _above(editor, node)
    if not kind.is_float or kind.masked or not sources:
        raise Inapplicable("no other tensor to read")
    second = editor.adapt(Edge(draw.choice(sources).id), kind)
    merged = editor.add(draw.choice(MERGERS), {}, (node.inputs[0], second))
    editor.redo(node, (Edge(merged.id),), node.params)


def remove_edge(editor: Editor, draw: Draw, block: str) -> None:
    """Let a merger read one tensor less; with one left, it goes."""
    node = _of(editor, draw, lambda node: len(node.inputs) > 1 and len(node.outputs) == 1, "a merger")
    kept = list(node.inputs)
    kept.pop(draw.integer(0, len(kept) - 1))
    if len(kept) >= CATALOGUE[node.layer].arity[0]:
        editor.redo(node, kept, node.params)
    else:
        editor.reroute(node, kept[:1])


def change_shape(editor: Editor, draw: Draw, block: str) -> None:
    """Let a block read its tensor in another shape, cut or padded."""
    node = _of(editor, draw, lambda node: len(node.inputs) == 1, "a block")
    kind = editor.type_of(node.inputs[0])
    shape = (*kind.shape[:1], *(draw.integer(*SIZES) for _ in kind.shape[1:]))
    if kind.masked or shape == kind.shape:
        raise Inapplicable("the shape is the same")
    editor.redo(node, (editor.adapt(node.inputs[0], TensorType(kind.dtype, shape, high=kind.high)),), node.params)


def change_parameters(editor: Editor, draw: Draw, block: str) -> None:
    """Give a block other parameters."""
    node = _of(editor, draw, lambda node: bool(node.params), "a block with parameters")
    spec, types = CATALOGUE[node.layer], editor.input_types(node)
    params = editor.limits.within(spec, types, spec.draw_params(draw, types, tries=10))
    if params is None or params == node.params:
        raise Inapplicable("no other parameters")
    editor.redo(node, node.inputs, params)


Edit = Callable[[Editor, Draw, str], None]
EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "edge addition": add_edge,
        "edge removal": remove_edge,
        "block addition": add_block,
        "block removal": remove_block,
        "shape": change_shape,
        "parameters": change_parameters,
    }
)


def wired(draw: Draw, limits: ModelLimits, names: Sequence[str]) -> Graph:
    """A first model: a chain of blocks with further edges, by a small-world ring or, as a residual graph, always around
    two blocks."""
    editor = Editor(Graph((), ()), draw, limits)
    shape = (draw.integer(1, 3), *(draw.integer(3, 8) for _ in range(RANK - 1)))
    made = [Edge(editor.add(INPUT, input_params(TensorType("float32", shape)), ()).id)]
    residual = draw.chance(0.5)
    for place in range(FIRST_NODES):
        edge = made[-1]
        if place >= NEIGHBOURS and (not residual or place % NEIGHBOURS == 0):
            other = made[-1 - NEIGHBOURS] if residual or not draw.chance(REWIRED) else draw.choice(made[:-1])
            kind = editor.type_of(edge)
            edge = Edge(editor.add(draw.choice(MERGERS), {}, (edge, editor.adapt(other, kind))).id)
        made.append(_put(editor, edge, draw.choice(names), draw))
    editor.expose(made[-1])
    return editor.finish()


def edited(graph: Graph, edit: str, block: str, draw: Draw, limits: ModelLimits) -> Graph:
    """A graph after one edit; Inapplicable with the reason if it cannot be made."""
    editor = Editor(graph, draw, limits)
    if reason := editor.attempt(lambda editor: EDITS[edit](editor, draw, block)):
        raise Inapplicable(reason)
    return editor.finish()


def _put(editor: Editor, edge: Edge, block: str, draw: Draw) -> Edge:
    """A block behind a tensor, which is led to rank 4 where it is not."""
    kind = editor.type_of(edge)
    if not kind.is_float or kind.rank != RANK or kind.masked:
        edge = editor.adapt(edge, TensorType("float32", (kind.shape + (1,) * RANK)[:RANK]))
    for name in SUBGRAPHS.get(block, (block,)):
        spec, types = CATALOGUE[name], (editor.type_of(edge),)
        params = editor.limits.within(spec, types, spec.draw_params(draw, types, tries=10))
        if params is None or not editor.limits.has(name):
            raise Inapplicable(f"{name} takes no {types[0]}")
        made = editor.add(name, params, (edge,))
        if made.outputs[0].rank != RANK or not made.outputs[0].is_float:
            raise Inapplicable(f"{name} gives another rank")
        edge = Edge(made.id)
    return edge


def _any(editor: Editor, draw: Draw) -> Node:
    return draw.choice(editor.sources())


def _of(editor: Editor, draw: Draw, suits: Callable[[Node], bool], wanted: str) -> Node:
    able = [node for node in editor.layers() if suits(node)]
    if not able:
        raise Inapplicable(f"expected {wanted}; received none")
    return draw.choice(able)


def _above(editor: Editor, node: Node) -> list[Node]:
    """The nodes that give floats and do not stand on a node, so that it may read them."""
    below = {node.id}
    while more := {
        other.id
        for other in editor.nodes.values()
        if other.id not in below and any(edge.node in below for edge in other.inputs)
    }:
        below |= more
    read = {edge.node for edge in node.inputs}
    return [
        other
        for other in editor.nodes.values()
        if other.id not in below | read and other.outputs[0].is_float and other.outputs[0].rank >= 2
    ]
