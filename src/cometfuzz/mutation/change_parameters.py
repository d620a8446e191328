"""MParam: give some layers parameter values that have not been seen."""

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node, Params
from cometfuzz.mutation.base import Guide, Inapplicable, Limits, mutation
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


@mutation("MParam")
def change_parameters(graph: Graph, guide: Guide, draw: Draw, limits: Limits) -> Graph:
    """Change parameters, uncovered values first, and repair the outputs."""

    def options(node: Node, editor: Editor) -> list[Params]:
        spec = CATALOGUE[node.layer]
        if not spec.params:
            return []
        params = guide.draw_params(spec, editor.input_types(node), draw, limits, node.params)
        return [params] if params is not None and params != node.params else []

    def is_open(node: Node, params: Params, editor: Editor) -> bool:
        spec = CATALOGUE[node.layer]
        return any(guide.wants_value(spec, name, value) for name, value in params.items())

    def change(node: Node, params: Params, editor: Editor) -> None:
        spec, types = CATALOGUE[node.layer], editor.input_types(node)
        if not spec.accepts(types, params):
            raise Inapplicable(f"{node.layer} no longer takes these parameters")
        editor.redo(node, node.inputs, params)

    return retouch(graph, draw, limits, options, is_open, change)
