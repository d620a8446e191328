"""ML: merge two tensors of the graph."""

from cometfuzz.catalogue import LAYERS
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor, repeat
from cometfuzz.mutation.retouch import ROOM

MERGING = tuple(spec for spec in LAYERS.values() if spec.arity[0] == 2)


def merge_layers(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Put 1 to 10 merging layers (also attention) between two tensors; the second is led to the first one's type."""
    return repeat(graph, draw, limits, limits.nodes - ROOM, lambda editor: _merge(editor, guide, draw))


def _merge(editor: Editor, guide: Guide, draw: Draw) -> None:
    nodes = [node for node in editor.nodes.values() if node.outputs[0].is_float and node.outputs[0].rank >= 2]
    nodes = [node for node in nodes if node.id not in editor.special]
    if not nodes:
        raise Inapplicable("no tensor of floats")
    merging = [spec for spec in MERGING if editor.limits.has(spec.name)]
    pairs = [(draw.choice(nodes), draw.choice(merging)) for _ in range(24)]
    pairs = [(node, spec) for node, spec in pairs if node.outputs[0].rank in spec.ranks]
    if not pairs:
        raise Inapplicable("no merging layer takes these ranks")
    wanted = [(guide.wants_input(spec.name, node.outputs[0]), index) for index, (node, spec) in enumerate(pairs)]
    left, spec = pairs[max(wanted)[1]]
    later = editor.below(left.id)
    right = draw.choice([node for node in nodes if node.id not in later] or [left])
    kind = left.outputs[0]
    first = Edge(left.id)
    if kind.masked:
        first = editor.adapt(first, TensorType(kind.dtype, kind.shape))
    second = editor.adapt(Edge(right.id), TensorType(kind.dtype, kind.shape))
    edges = (first, second)
    params = guide.draw_params(spec, tuple(editor.type_of(edge) for edge in edges), draw, editor.limits)
    if params is None:
        raise Inapplicable(f"{spec.name} takes no two {kind}")
    made = editor.add(spec.name, params, edges)
    if kind.masked or not editor.is_read(Edge(left.id)) or draw.chance(0.3):
        editor.expose(Edge(made.id))
    else:
        editor.reroute(Node(left.id, left.layer, left.params, left.inputs, left.outputs[:1]), [Edge(made.id)])
