"""CL: copy a layer behind another one that it has never followed; the copy is an output of its own."""

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, Limits
from cometfuzz.mutation.repair import Editor, repeat


def copy_layer(graph: Graph, guide: Guide, draw: Draw, limits: Limits) -> Graph:
    """Copy 1 to 10 layers, new sequences first."""
    return repeat(graph, draw, limits, limits.nodes // 2, lambda editor: _copy(editor, guide, draw))


def _copy(editor: Editor, guide: Guide, draw: Draw) -> None:
    layers = [node for node in editor.layers() if CATALOGUE[node.layer].arity == (1, 1)]
    if not layers:
        raise Inapplicable("no layer with one input")
    pair = guide.new_pair(editor.sources(), {node.layer for node in layers}, draw)
    if pair is None:
        before, model = draw.choice(editor.sources()), draw.choice(layers)
    else:
        before, name = pair[0], draw.choice(pair[1])
        model = draw.choice([node for node in layers if node.layer == name])
    spec, kind = CATALOGUE[model.layer], editor.input_types(model)[0]
    edge = Edge(before.id)
    if not editor.takes(spec, (editor.type_of(edge),), model.params):
        edge = editor.adapt(edge, TensorType(kind.dtype, kind.shape, high=kind.high))
    made = editor.add(model.layer, model.params, (edge,))
    editor.expose(Edge(made.id))
