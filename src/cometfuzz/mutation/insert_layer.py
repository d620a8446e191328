"""IL: put layers that have not been seen there behind layers that they have never followed."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, Limits
from cometfuzz.mutation.repair import Editor, repeat

UNARY = {name: None for name, spec in LAYERS.items() if spec.arity == (1, 1)}


def insert_layer(graph: Graph, guide: Guide, draw: Draw, limits: Limits) -> Graph:
    """Insert 1 to 10 layers, all their parameters drawn, uncovered values first."""
    return repeat(graph, draw, limits, limits.nodes // 3, lambda editor: _insert(editor, guide, draw))


def _insert(editor: Editor, guide: Guide, draw: Draw) -> None:
    node, spec, after = _choose(editor, guide, draw)
    edge = Edge(node.id)
    seen = editor.type_of(edge)
    wanted = _wanted_type(spec, seen, guide, draw)
    if seen.rank not in spec.ranks or seen.dtype not in spec.dtypes or guide.wants_input(spec.name, wanted) > 1:
        edge = editor.adapt(edge, wanted)
    types = (editor.type_of(edge),)
    params = guide.draw_params(spec, types, draw, editor.limits)
    if params is None:
        edge = editor.adapt(edge, spec.inputs(draw)[0])
        types = (editor.type_of(edge),)
        params = guide.draw_params(spec, types, draw, editor.limits)
    if params is None:
        raise Inapplicable(f"{spec.name} takes no {types[0]}")
    made = editor.add(spec.name, params, (edge,))
    between = any(guide.wants_sequence(spec.name, layer) for layer in after) or draw.chance(0.2)
    if seen.masked or not editor.is_read(Edge(node.id)) or not between:
        editor.expose(Edge(made.id))
    else:
        editor.reroute(Node(node.id, node.layer, node.params, node.inputs, node.outputs[:1]), [Edge(made.id)])


def _choose(editor: Editor, guide: Guide, draw: Draw) -> tuple[Node, LayerSpec, list[str]]:
    """A node and a layer that has never followed it, if there is one; best one that its readers have never followed."""
    layers = editor.sources()
    names = {name: None for name in UNARY if editor.limits.has(name)}
    pair = guide.new_pair(layers, names, draw)
    if pair is None:
        return draw.choice(layers), LAYERS[draw.choice(list(names))], []
    node, followers = pair
    after = _layers_after(editor, node)
    both = [name for name in followers if any(guide.wants_sequence(name, layer) for layer in after)]
    return node, LAYERS[draw.choice(both or followers)], after


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
