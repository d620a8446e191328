"""Plans become graphs: added to one that is there, or by themselves."""

from dataclasses import replace

from cometfuzz.catalogue.drawing import input_params
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.repair import USUAL_BOUND, Editor
from cometfuzz.search.planning import Plan


def place(editor: Editor, found: Plan, source: Edge | None = None) -> None:
    """Add the calls of a plan; the first reads `source` as it is, or tensors that are led to its types."""
    for call in found:
        inputs = [
            source if source is not None and index == call.at else editor.adapt(_nearest(editor, kind), kind)
            for index, kind in enumerate(call.types)
        ]
        made = editor.add(call.spec.name, call.params, inputs)
        if source in editor.outputs and not editor.taps:
            editor.outputs.remove(source)
        source = Edge(made.id)
    if source is not None:
        editor.expose(source)


def _nearest(editor: Editor, kind: TensorType) -> Edge:
    """Of some tensors of the graph, the one that needs the fewest utility nodes."""

    def distance(node: Node) -> tuple[bool, int, bool]:
        seen = node.outputs[0]
        return seen.masked, abs(seen.rank - kind.rank), seen.dtype != kind.dtype

    sources = editor.sources()
    return Edge(min((editor.draw.choice(sources) for _ in range(6)), key=distance).id)


def alone(found: Plan) -> Graph | None:
    """A graph of nothing but a plan; None if it reads what no input can be, such as a tensor of seven axes."""
    drafts: list[Draft] = []
    source: Edge | None = None
    for call in found:
        inputs = []
        for index, kind in enumerate(call.types):
            if source is not None and index == call.at:
                inputs.append(source)
                continue
            drafts.append(Draft(f"n{len(drafts)}", INPUT, input_params(promised(kind)), ()))
            inputs.append(Edge(drafts[-1].id))
        drafts.append(Draft(f"n{len(drafts)}", call.spec.name, call.params, tuple(inputs)))
        source = Edge(drafts[-1].id)
    assert source is not None
    try:
        return assemble(drafts, [source])
    except InvalidCase:
        return None


def promised(kind: TensorType) -> TensorType:
    """A type that an input can have: its integers have a bound, though those that it stands for may have none."""
    return replace(kind, high=USUAL_BOUND) if kind.dtype == "int32" and kind.high is None else kind
