"""MShape: give some layers an input of a shape that they have not been seen with."""

from cometfuzz.catalogue.spaces import RARE
from cometfuzz.catalogue.spec import CATALOGUE, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


def change_shape(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Pad or crop a layer's input to another shape, and its output back. A size may be zero, seldom."""

    def options(node: Node, editor: Editor) -> list[tuple[int, ...]]:
        now = editor.type_of(node.inputs[0])
        if CATALOGUE[node.layer].arity != (1, 1) or now.rank < 2:
            return []
        size = draw_shape(draw, now.rank)
        shape = (now.shape[0], *size[1:])
        if 0 in shape and not draw.chance(RARE):
            shape = tuple(max(1, n) for n in shape)
        return [shape] if shape != now.shape else []

    def is_open(node: Node, shape: tuple[int, ...], editor: Editor) -> bool:
        kind = TensorType(editor.type_of(node.inputs[0]).dtype, shape)
        return guide.wants_input(node.layer, kind) > 0

    def change(node: Node, shape: tuple[int, ...], editor: Editor) -> None:
        spec, now = CATALOGUE[node.layer], editor.type_of(node.inputs[0])
        edge = editor.adapt(node.inputs[0], TensorType(now.dtype, shape, high=now.high))
        edges = (edge, *node.inputs[1:])  # initial states, if they still are what the layer begins with
        types = tuple(map(editor.type_of, edges))
        params: Params | None = node.params
        if not editor.takes(spec, types, node.params):
            edges, types = edges[:1], types[:1]
            taken = editor.takes(spec, types, node.params)
            params = node.params if taken else guide.draw_params(spec, types, draw, limits)
        if params is None:
            raise Inapplicable(f"{node.layer} takes no {types[0]}")
        editor.redo(node, edges, params)

    return retouch(graph, draw, limits, options, is_open, change)
