"""MDims: give some layers an input of a rank that they have not been seen with."""

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


def change_rank(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Expand or squeeze a layer's input to another rank, and its output back."""

    def options(node: Node, editor: Editor) -> list[int]:
        spec, now = CATALOGUE[node.layer], editor.type_of(node.inputs[0]).rank
        return [rank for rank in spec.ranks if rank != now] if spec.arity == (1, 1) else []

    def is_open(node: Node, rank: int, editor: Editor) -> bool:
        return guide.wants(Fact("inputs", node.layer, "rank", str(rank)))

    def change(node: Node, rank: int, editor: Editor) -> None:
        spec, now = CATALOGUE[node.layer], editor.type_of(node.inputs[0])
        shape = (
            (now.shape + (1,) * rank)[:rank]
            if rank < now.rank
            else now.shape + (1 if limits.published else draw.integer(1, 3),) * (rank - now.rank)
        )
        edge = editor.adapt(node.inputs[0], TensorType(now.dtype, shape))
        types = (editor.type_of(edge),)
        params = node.params if editor.takes(spec, types, node.params) else guide.draw_params(spec, types, draw, limits)
        if params is None:
            raise Inapplicable(f"{node.layer} takes no {types[0]}")
        editor.redo(node, [edge], params)

    return retouch(graph, draw, limits, options, is_open, change)
