"""IL: put layers that have not been seen there behind layers that they have never followed."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import FLOATS, TensorType
from cometfuzz.mutation.base import LAYERS_AT_ONCE, Guide, Inapplicable, Limits, mutation
from cometfuzz.mutation.repair import Editor, trim

UNARY = tuple(spec for spec in LAYERS.values() if spec.arity == (1, 1))
TRIED = 8
"""How many layers of the graph are looked at for one that has an uncovered follower."""


@mutation("IL")
def insert_layer(graph: Graph, guide: Guide, draw: Draw, limits: Limits) -> Graph:
    """Insert 1 to 10 layers, all their parameters drawn, uncovered values first."""
    current, done, reason = trim(graph, max(2, limits.nodes // 3), draw), 0, "no layer fits any edge"
    for _ in range(draw.integer(1, LAYERS_AT_ONCE)):
        editor = Editor(current, draw, limits)
        try:
            _insert(editor, guide, draw)
            current = editor.finish()
            done += 1
        except Inapplicable as error:
            reason = str(error)
    if not done:
        raise Inapplicable(reason)
    return current


def _insert(editor: Editor, guide: Guide, draw: Draw) -> None:
    node, spec = _choose(editor, guide, draw)
    edge = Edge(node.id)
    seen = editor.type_of(edge)
    if seen.rank not in spec.ranks or seen.dtype not in spec.dtypes:
        edge = editor.adapt(edge, _wanted_type(spec, seen, guide, draw))
    types = [editor.type_of(edge)]
    params = guide.draw_params(spec, types, draw)
    if params is None:
        edge = editor.adapt(edge, spec.inputs(draw)[0])
        types = [editor.type_of(edge)]
        params = guide.draw_params(spec, types, draw)
    if params is None:
        raise Inapplicable(f"{spec.name} takes no {types[0]}")
    made = editor.add(spec.name, params, (edge,))
    if seen.masked or not editor.is_read(Edge(node.id)) or draw.chance(0.3):
        editor.expose(Edge(made.id))
        editor.settle()
    else:
        editor.reroute(Node(node.id, node.layer, node.params, node.inputs, node.outputs[:1]), [Edge(made.id)])


def _choose(editor: Editor, guide: Guide, draw: Draw) -> tuple[Node, LayerSpec]:
    """A node and a layer that has never followed it, if there is one; direct edges before adapted ones."""
    layers = editor.layers() or list(editor.nodes.values())
    for node in draw.shuffled(layers)[:TRIED]:
        followers = [LAYERS[name] for name in guide.open_followers(node.layer) if LAYERS[name].arity == (1, 1)]
        if followers:
            kind = node.outputs[0]
            direct = [spec for spec in followers if kind.rank in spec.ranks and kind.dtype in spec.dtypes]
            return node, draw.choice(direct or followers)
    return draw.choice(layers), draw.choice(UNARY)


def _wanted_type(spec: LayerSpec, seen: TensorType, guide: Guide, draw: Draw) -> TensorType:
    """A type that the layer takes, near what is there: another rank or dtype, uncovered first."""
    floats = [dtype for dtype in spec.dtypes if dtype in FLOATS]
    dtype = seen.dtype if seen.dtype in spec.dtypes else (draw.choice(floats) if floats else draw.choice(spec.dtypes))
    rank = seen.rank if seen.rank in spec.ranks else draw.choice(spec.ranks)
    drawn = spec.inputs(draw)[0]
    if drawn.rank == rank and drawn.dtype == dtype:
        return drawn
    shape = tuple(max(1, size) for size in (seen.shape + (draw.integer(1, 4),) * rank)[:rank])
    return TensorType(dtype, shape, high=drawn.high)
