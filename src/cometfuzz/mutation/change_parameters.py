"""MParam: give some layers parameter values that have not been seen."""

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


def change_parameters(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Change parameters, uncovered values first, and repair the outputs."""

    def options(node: Node, editor: Editor) -> list[LayerSpec]:
        spec = CATALOGUE[node.layer]
        return [spec] if spec.params else []

    def is_open(node: Node, spec: LayerSpec, editor: Editor) -> bool:
        return any(guide.is_open(spec.name, parameter) for parameter in spec.params)

    def change(node: Node, spec: LayerSpec, editor: Editor) -> None:
        types = editor.input_types(node)
        params = guide.draw_params(spec, types, draw, limits, node.params)
        if params is None or params == node.params:
            params = guide.draw_params(spec, types, draw, limits)
        if params is None or params == node.params:
            raise Inapplicable(f"{node.layer} takes no other parameters here")
        editor.redo(node, node.inputs, params)

    return retouch(graph, draw, limits, options, is_open, change)
