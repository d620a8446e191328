"""One order for an ONNX graph, whatever the order and the names in the file: converters do not write the same twice."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cometfuzz.triage.scripts.onnx_graph import (
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    inside,
    read_inside,
    with_names,
)


def in_order(model: OnnxModel) -> OnnxModel:
    """The same model with nodes in the order in which its outputs need them, what nobody needs last; constants in the
    order of their use and each once; attributes and opsets by name."""
    return replace(model, opsets=tuple(sorted(model.opsets)), graph=_ordered(_shared(model.graph)))


def _ordered(graph: OnnxGraph) -> OnnxGraph:
    graph = inside(graph, _ordered)
    nodes = [replace(node, attributes=dict(sorted(node.attributes.items()))) for node in _as_needed(graph)]
    read = dict.fromkeys(name for node in nodes for name in (*node.inputs, *read_inside(node)))
    names = [name for name in read if name in graph.constants]
    names += [name for name in graph.constants if name not in read]
    return replace(graph, nodes=tuple(nodes), constants={name: graph.constants[name] for name in names})


def _as_needed(graph: OnnxGraph) -> list[OnnxNode]:
    """Depth first from the outputs, the inputs of a node before it."""
    makers = {name: at for at, node in enumerate(graph.nodes) for name in node.outputs if name}
    placed: dict[int, OnnxNode] = {}
    for root in (*(value.name for value in graph.outputs), *makers):
        pending: list[tuple[int, Iterator[int]]] = []
        if root in makers:
            pending.append((makers[root], _needs(graph.nodes[makers[root]], makers)))
        while pending:
            at, needs = pending[-1]
            missing = next((need for need in needs if need not in placed), None)
            if missing is not None:
                pending.append((missing, _needs(graph.nodes[missing], makers)))
                continue
            pending.pop()
            placed.setdefault(at, graph.nodes[at])
    silent = [node for at, node in enumerate(graph.nodes) if at not in placed]
    return [*placed.values(), *silent]


def _needs(node: OnnxNode, makers: Mapping[str, int]) -> Iterator[int]:
    return (makers[name] for name in (*node.inputs, *read_inside(node)) if name in makers)


def _shared(graph: OnnxGraph) -> OnnxGraph:
    """The graph, and those inside it, with equal constants of one scope made one."""
    graph = inside(graph, _shared)
    first: dict[str, str] = {}
    names: dict[str, str] = {}
    outputs = {value.name for value in graph.outputs}
    for name, tensor in graph.constants.items():
        names[name] = name if name in outputs else first.setdefault(_text(tensor), name)
    kept = {name: tensor for name, tensor in graph.constants.items() if names[name] == name}
    return with_names(replace(graph, constants=kept), lambda name: names.get(name, name))


def _text(tensor: OnnxTensor) -> str:
    """A constant as text: 0.0 and -0.0 are two, and NaN is one."""
    return f"{tensor.dtype} {tensor.shape} {list(tensor.values)}"
