"""InitialStates: recurrent layers begin with tensors of the model, as a decoder does with its encoder's states."""

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


def give_states(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Lead tensors that do not come out of a layer to the types of its states; such as have them already come first."""

    def options(node: Node, editor: Editor) -> list[LayerSpec]:
        spec = CATALOGUE[node.layer]
        return [spec] if len(node.inputs) == 1 and spec.given_states(editor.input_types(node), node.params) else []

    def is_open(node: Node, spec: LayerSpec, editor: Editor) -> bool:
        return False  # no space of coverage has them

    def change(node: Node, spec: LayerSpec, editor: Editor) -> None:
        first = editor.input_types(node)[0]
        edges = list(node.inputs)
        for shape in spec.given_states([first], node.params):
            edges.append(_state(editor, node, TensorType(first.dtype, shape), draw))
        editor.redo(node, edges, node.params)

    return retouch(graph, draw, limits, options, is_open, change)


def _state(editor: Editor, node: Node, kind: TensorType, draw: Draw) -> Edge:
    later = {node.id, *editor.below(node.id), *editor.special}
    found = [
        Edge(name, place)
        for name, other in editor.nodes.items()
        if name not in later
        for place, output in enumerate(other.outputs)
        if output.is_float and not output.masked
    ]
    if not found:
        raise Inapplicable("no tensor of floats that the layer does not lead to")
    ready = [edge for edge in found if editor.type_of(edge) == kind]
    return draw.choice(ready) if ready else editor.adapt(draw.choice(found), kind)
