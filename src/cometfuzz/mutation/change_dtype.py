"""MDtype: compute some layers in a dtype that they have not been seen with."""

from dataclasses import replace

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.gain import Fact
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor
from cometfuzz.mutation.retouch import retouch


def change_dtype(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Cast a layer's inputs to another dtype, and its outputs back."""

    def options(node: Node, editor: Editor) -> list[str]:
        now = editor.type_of(node.inputs[0]).dtype
        others = [dtype for dtype in CATALOGUE[node.layer].dtypes if dtype != now and "float" in dtype]
        return others if "float" in now else []

    def is_open(node: Node, dtype: str, editor: Editor) -> bool:
        return guide.wants(Fact("inputs", node.layer, "dtype", dtype))

    def change(node: Node, dtype: str, editor: Editor) -> None:
        kinds = editor.input_types(node)
        if any(not kind.is_float for kind in kinds):
            raise Inapplicable(f"{node.layer} has inputs that are no floats")
        inputs = [
            editor.adapt(edge, replace(kind, dtype=dtype, masked=False))
            for edge, kind in zip(node.inputs, kinds, strict=True)
        ]
        editor.redo(node, inputs, node.params)

    return retouch(graph, draw, limits, options, is_open, change)
