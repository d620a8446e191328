"""Precision: dtype policies of Keras 3, a mixed one for the whole model, or any for some layers."""

from cometfuzz.catalogue.precision import MIXED, under_policy, with_policy
from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.catalogue.validate import type_call
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Graph, Node, Params
from cometfuzz.ir.types import POLICY
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.repair import Editor, trim
from cometfuzz.mutation.retouch import retouch

WHOLE = 0.5


def change_precision(graph: Graph, guide: Guide, draw: Draw, limits: ModelLimits) -> Graph:
    """Half of the time the whole model, as users do it; else some layers, whose inputs get other dtypes as well."""
    if draw.chance(WHOLE):
        return mixed(trim(graph, draw, limits), draw.choice(MIXED), limits)

    def options(node: Node, editor: Editor) -> list[LayerSpec]:
        spec = CATALOGUE[node.layer]
        return [spec] if spec.takes_policy and POLICY not in node.params else []

    def is_open(node: Node, spec: LayerSpec, editor: Editor) -> bool:
        return False  # no space of coverage has policies

    def change(node: Node, spec: LayerSpec, editor: Editor) -> None:
        found = under_policy(spec, editor.input_types(node), node.params, draw)
        if found is None:
            raise Inapplicable(f"{node.layer} takes no policy here")
        kinds, params = found
        editor.redo(node, [editor.adapt(edge, kind) for edge, kind in zip(node.inputs, kinds, strict=True)], params)

    return retouch(graph, draw, limits, options, is_open, change)


def mixed(graph: Graph, policy: str, limits: ModelLimits) -> Graph:
    """Every layer under one policy, but those to which it means nothing or against which something stands."""
    nodes: dict[str, Node] = {}
    for node in graph.nodes:
        types = tuple(nodes[edge.node].outputs[edge.output] for edge in node.inputs)
        spec, plain = CATALOGUE[node.layer], _plain(node)
        for params in ([with_policy(spec, plain, policy)] if spec.takes_policy else []) + [plain]:
            outputs = type_call(node.layer, types, params)
            if not isinstance(outputs, list) and not limits.objection(node.layer, types, params):
                nodes[node.id] = Node(node.id, node.layer, params, node.inputs, outputs)
                break
        else:
            raise Inapplicable(f"{node.layer} does not take what the layers before it give under {policy}")
    changed = Graph(tuple(nodes.values()), graph.outputs)
    if changed == graph:
        raise Inapplicable(f"no layer takes {policy} that has not got it")
    return changed


def _plain(node: Node) -> Params:
    """The parameters of a node without a policy."""
    return CATALOGUE[node.layer].complete({**node.params, POLICY: None})
