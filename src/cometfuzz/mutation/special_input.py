"""SpecialI: multiply a layer's output by NaN, Inf or 0, on its path, as the paper's authors do.

Converters fold such a product into the layer before it, and what they make of it then is another number. All that
follows is hardly more than NaN, so a mutant is never mutated again (`Search.land`), and few cases are made (`Comet`).
"""

from dataclasses import replace

from cometfuzz.catalogue.utility import SPECIAL_NODES
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor, trim

VALUES = ("nan", "inf", "zero")


def special_input(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """One special value in a case: a graph that has one already is left alone."""
    if any(node.layer in SPECIAL_NODES for node in graph.nodes):
        raise Inapplicable("the graph has a special value already")
    editor = Editor(trim(graph, draw, replace(limits, nodes=max(2, limits.nodes - 1))), draw, limits)
    layers = [node for node in editor.layers() if node.outputs[0].is_float and not node.outputs[0].masked]
    layers = [node for node in layers if node.outputs[0].rank and editor.is_read(Edge(node.id))]
    if not layers:
        raise Inapplicable("no layer with an output of floats")
    node = draw.choice(layers)
    product = editor.utility("scale", {"value": draw.choice(VALUES)}, Edge(node.id))
    editor.reroute(Node(node.id, node.layer, node.params, node.inputs, node.outputs[:1]), [product])
    mutant = editor.finish()
    if product.node not in mutant.by_id:
        raise Inapplicable("no output stands on the layer")
    return mutant


def is_multiplied(graph: Graph) -> bool:
    """Whether a graph has a layer whose output is multiplied by a special value."""
    return any(node.layer == "scale" for node in graph.nodes)
