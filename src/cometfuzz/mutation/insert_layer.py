"""IL: put layers that have not been seen there behind layers that they have never followed."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import FLOATS, TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, Limits, how_many, mutation
from cometfuzz.mutation.repair import Editor, trim
from cometfuzz.mutation.retouch import ROOM

UNARY = tuple(spec for spec in LAYERS.values() if spec.arity == (1, 1))
TRIED = 40
"""How many pairs of edge and layer are looked at for each insertion."""


@mutation("IL")
def insert_layer(graph: Graph, guide: Guide, draw: Draw, limits: Limits) -> Graph:
    """Insert 1 to 10 layers, all their parameters drawn, uncovered values first."""
    graph = trim(graph, max(2, limits.nodes - ROOM), draw)
    current, done, reason = graph, 0, "no layer fits any edge"
    for _ in range(how_many(draw, 10)):
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
    """The best of some drawn pairs: new sequences first, then new inputs, direct edges before adapted ones."""
    nodes = list(editor.nodes.values())
    best, best_score = (draw.choice(nodes), draw.choice(UNARY)), -1.0
    for _ in range(TRIED):
        node, spec = draw.choice(nodes), draw.choice(UNARY)
        kind = node.outputs[0]
        direct = kind.rank in spec.ranks and kind.dtype in spec.dtypes
        score = 2.0 * guide.wants_sequence(node.layer, spec.name) + direct + draw.fraction()
        score += 0.5 * guide.wants_input(spec.name, kind) if direct else 0.0
        if score > best_score:
            best, best_score = (node, spec), score
    return best


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
