"""CL: copy a layer behind another one that it has never followed; the copy is an output of its own."""

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor, repeat


def copy_layer(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Copy 1 to 10 layers, new sequences first."""
    return repeat(graph, draw, limits, limits.nodes // 2, lambda editor: _copy(editor, guide, draw))


def _copy(editor: Editor, guide: Guide, draw: Draw) -> None:
    layers = [node for node in editor.layers() if CATALOGUE[node.layer].arity == (1, 1)]
    if not layers:
        raise Inapplicable("no layer with one input")
    pair = guide.new_pair(editor.sources(), {node.layer for node in layers}, draw)
    before = draw.choice(editor.sources()) if pair is None else pair[0]
    models = layers if pair is None else [node for node in layers if node.layer in pair[1]]
    kinds = before.outputs[:1]
    fitting = [node for node in models if editor.takes(CATALOGUE[node.layer], kinds, node.params)]
    model = draw.choice(fitting or models)
    edge = Edge(before.id)
    if not fitting:
        kind = editor.input_types(model)[0]
        edge = editor.adapt(edge, TensorType(kind.dtype, kind.shape, high=kind.high))
    made = editor.add(model.layer, model.params, (edge,))
    editor.expose(Edge(made.id))
