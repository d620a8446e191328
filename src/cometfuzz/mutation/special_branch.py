"""SpecialBranch, not in the paper: feed NaN, Inf, -Inf or 0 to a copy of a layer, on a branch with its own output."""

from dataclasses import replace

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.utility import SPECIAL_NODES, SPECIAL_VALUES
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor, trim


def special_branch(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """One special value in a case: a graph that has one already is left alone."""
    if any(node.layer in SPECIAL_NODES for node in graph.nodes):
        raise Inapplicable("the graph has a special value already")
    graph = trim(graph, draw, replace(limits, nodes=max(2, limits.nodes - 2)))
    editor = Editor(graph, draw, limits)
    layers = [
        node
        for node in editor.layers()
        if CATALOGUE[node.layer].arity == (1, 1) and editor.input_types(node)[0].is_float and node.layer != "Masking"
    ]
    layers = [node for node in layers if not editor.input_types(node)[0].masked]
    if not layers:
        raise Inapplicable("no layer with a float input")
    model = draw.choice(layers)
    params = {"value": draw.choice(SPECIAL_VALUES), "elements": draw.choice(("first", "all"))}
    edge = editor.utility("special", params, model.inputs[0])
    made = editor.add(model.layer, model.params, (edge,))
    editor.expose(Edge(made.id))
    return editor.finish()
