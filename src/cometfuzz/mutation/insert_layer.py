"""IL: put layers that have not been seen there behind layers that they have never followed."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits, readers
from cometfuzz.mutation.repair import Editor, repeat

TRIES = 3
"""Layers that are tried on a tensor as it is, before one is put on a tensor that is led to another type."""

REPAIRED = 0.2
"""How often a layer stands on the path though its output must be repaired and its readers have followed it before; else
it ends in an output of its own, which costs fewer nodes."""

UNARY = {name: None for name, spec in LAYERS.items() if spec.arity == (1, 1)}


def insert_layer(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Insert 1 to 10 layers, all their parameters drawn, uncovered values first."""
    return repeat(graph, draw, limits, limits.nodes // 3, lambda editor: _insert(editor, guide, draw))


def _insert(editor: Editor, guide: Guide, draw: Draw) -> None:
    """Put a layer between a node and its readers; where that is not worth it, into an output of its own."""
    node, names = _choose(editor, guide, draw)
    after, kind = _layers_after(editor, node), node.outputs[0]
    made = _add(editor, guide, draw, node, names, after)
    wanted = made.outputs[0] == kind or any(guide.wants_sequence(made.layer, name) for name in after)
    if editor.is_read(Edge(node.id)) and not kind.masked and (wanted or draw.chance(REPAIRED)):
        editor.reroute(Node(node.id, node.layer, node.params, node.inputs, node.outputs[:1]), [Edge(made.id)])
    else:
        editor.expose(Edge(made.id))


def _add(editor: Editor, guide: Guide, draw: Draw, node: Node, names: list[str], after: list[str]) -> Node:
    """One of some layers behind a node: the first that takes its output as it is; else one on a type that it takes."""
    edge, kind = Edge(node.id), node.outputs[0]
    both = [name for name in names if any(guide.wants_sequence(name, layer) for layer in after)]
    ordered = list(dict.fromkeys([*draw.shuffled(both), *draw.shuffled(names)]))
    for name in ordered[:TRIES]:
        spec = LAYERS[name]
        if name in readers(kind):
            params = guide.draw_params(spec, (kind,), draw, editor.limits)
            if params is not None:
                return editor.add(name, params, (edge,))
    spec = LAYERS[ordered[0]]
    for wanted in (_wanted_type(spec, kind, guide, draw), spec.inputs(draw)[0]):
        led = editor.adapt(edge, wanted)
        params = guide.draw_params(spec, (editor.type_of(led),), draw, editor.limits)
        if params is not None:
            return editor.add(spec.name, params, (led,))
    raise Inapplicable(f"{spec.name} takes no {kind}")


def _choose(editor: Editor, guide: Guide, draw: Draw) -> tuple[Node, list[str]]:
    """A node and the layers that have never followed it; any, if there are none."""
    names = {name: None for name in UNARY if editor.limits.has(name)}
    pair = guide.new_pair(editor.sources(), names, draw)
    return pair or (draw.choice(editor.sources()), [draw.choice(list(names))])


def _layers_after(editor: Editor, node: Node) -> list[str]:
    """The layers that read a node's first output, through utility nodes."""
    found: dict[str, None] = {}
    waiting = [Edge(node.id)]
    while waiting:
        edge = waiting.pop()
        for reader in editor.nodes.values():
            if edge in reader.inputs:
                if CATALOGUE[reader.layer].counted:
                    found[reader.layer] = None
                else:
                    waiting.append(Edge(reader.id))
    return list(found)


def _wanted_type(spec: LayerSpec, seen: TensorType, guide: Guide, draw: Draw) -> TensorType:
    """A type that the layer takes: an uncovered dtype and rank if there are any, else what is there if it fits."""
    open_dtypes = [dtype for dtype in spec.dtypes if guide.wants(Fact("inputs", spec.name, "dtype", dtype))]
    open_ranks = [rank for rank in spec.ranks if guide.wants(Fact("inputs", spec.name, "rank", str(rank)))]
    dtype = draw.choice(open_dtypes or ([seen.dtype] if seen.dtype in spec.dtypes else spec.dtypes))
    rank = draw.choice(open_ranks or ([seen.rank] if seen.rank in spec.ranks else spec.ranks))
    drawn = spec.inputs(draw)[0]
    if drawn.rank == rank and 0 not in drawn.shape:
        shape = drawn.shape
    else:
        shape = tuple(max(1, size) for size in (seen.shape + (draw.integer(1, 4),) * rank)[:rank])
    return TensorType(dtype, shape, high=drawn.high if dtype == "int32" else None)
