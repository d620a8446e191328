"""ONNX graphs as plain data, made simpler without a change of meaning: no constant nodes, no identities, fit names."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

FLOATS = {"FLOAT16": "float16", "FLOAT": "float32", "DOUBLE": "float64"}
NUMPY_DTYPES = {**FLOATS, "INT32": "int32", "INT64": "int64", "BOOL": "bool"}
"""What an input or output may be if numpy is to make or read it, with our name for it."""

DTYPES = {**NUMPY_DTYPES, "BFLOAT16": "bfloat16"}
NUMBERS = {1: "FLOAT", 6: "INT32", 7: "INT64", 9: "BOOL", 10: "FLOAT16", 11: "DOUBLE", 16: "BFLOAT16"}
"""ONNX's numbers of dtypes, for Cast."""


@dataclass(frozen=True)
class OnnxTensor:
    """A constant: ONNX's name of its dtype, shape, and its values in order."""

    dtype: str
    shape: tuple[int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class OnnxValue:
    """An input or output of a graph; the shape is None where the file says nothing of it."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class OnnxNode:
    """A call of an operator. An attribute is a plain value, an OnnxTensor or an OnnxGraph."""

    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def graphs(self) -> list["OnnxGraph"]:
        return [value for value in self.attributes.values() if isinstance(value, OnnxGraph)]


@dataclass(frozen=True)
class OnnxGraph:
    """Nodes in order; graphs inside them see the names of those around."""

    inputs: tuple[OnnxValue, ...]
    outputs: tuple[OnnxValue, ...]
    constants: Mapping[str, OnnxTensor]
    nodes: tuple[OnnxNode, ...]


@dataclass(frozen=True)
class OnnxModel:
    """A graph with the versions it needs: opsets are (domain, version)."""

    ir_version: int
    opsets: tuple[tuple[str, int], ...]
    graph: OnnxGraph


@dataclass(frozen=True)
class Fed:
    """A model with what its inputs are given."""

    model: OnnxModel
    feeds: Mapping[str, OnnxTensor]


@dataclass(frozen=True)
class Float:
    """A number of an attribute, which ONNX holds in float32."""

    value: float


def read(plain: Mapping[str, Any]) -> OnnxModel:
    """What `routes.onnx_text` describes."""
    opsets = tuple((domain, version) for domain, version in plain["opsets"])
    return OnnxModel(plain["ir_version"], opsets, _graph(plain["graph"]))


def _graph(plain: Mapping[str, Any]) -> OnnxGraph:
    nodes = [
        OnnxNode(
            node["op"],
            node["domain"],
            tuple(node["inputs"]),
            tuple(node["outputs"]),
            {name: _attribute(kind, value) for name, (kind, value) in node["attributes"].items()},
        )
        for node in plain["nodes"]
    ]
    constants = {name: _tensor(value) for name, value in plain["initialisers"].items()}
    return OnnxGraph(_values(plain["inputs"]), _values(plain["outputs"]), constants, tuple(nodes))


def _values(plain: Sequence[Any]) -> tuple[OnnxValue, ...]:
    return tuple(OnnxValue(name, dtype, None if shape is None else tuple(shape)) for name, dtype, shape in plain)


def _tensor(plain: Sequence[Any]) -> OnnxTensor:
    dtype, shape, values = plain
    return OnnxTensor(dtype, tuple(shape), tuple(values))


def _attribute(kind: str, value: Any) -> Any:
    if kind == "tensor":
        return _tensor(value)
    if kind == "graph":
        return _graph(value)
    if kind == "float":
        return [Float(each) for each in value] if isinstance(value, list) else Float(value)
    return value


def simplified(model: OnnxModel) -> OnnxModel:
    """The same model without Constant and Identity nodes where they can go, nor casts of what is of that dtype already,
    and without what nobody reads."""
    graph = without_dead(_without_identities(_without_casts(_with_constants(model.graph))))
    used = {node.domain for node in all_nodes(graph)}
    opsets = tuple((domain, version) for domain, version in model.opsets if domain == "" or domain in used)
    return replace(model, opsets=opsets, graph=graph)


def inside(graph: OnnxGraph, change: Callable[[OnnxGraph], OnnxGraph]) -> OnnxGraph:
    """The graph with a change made to all graphs in its nodes."""
    nodes = []
    for node in graph.nodes:
        attributes = {
            name: change(value) if isinstance(value, OnnxGraph) else value for name, value in node.attributes.items()
        }
        nodes.append(replace(node, attributes=attributes))
    return replace(graph, nodes=tuple(nodes))


def _with_constants(graph: OnnxGraph) -> OnnxGraph:
    graph = inside(graph, _with_constants)
    outputs = {value.name for value in graph.outputs}
    constants, nodes = dict(graph.constants), []
    for node in graph.nodes:
        value = node.attributes.get("value")
        if node.op == "Constant" and isinstance(value, OnnxTensor) and node.outputs[0] not in outputs:
            constants[node.outputs[0]] = value
        else:
            nodes.append(node)
    return replace(graph, constants=constants, nodes=tuple(nodes))


def _without_casts(graph: OnnxGraph) -> OnnxGraph:
    """Casts to the dtype that an input, a constant or another cast has are identities."""
    known = {value.name: value.dtype for value in graph.inputs}
    known |= {name: tensor.dtype for name, tensor in graph.constants.items()}
    nodes = []
    for node in graph.nodes:
        dtype = NUMBERS.get(node.attributes.get("to", 0))
        if node.op == "Cast" and dtype is not None:
            known[node.outputs[0]] = dtype
            if known.get(node.inputs[0]) == dtype:
                node = replace(node, op="Identity", attributes={})
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


def _without_identities(graph: OnnxGraph) -> OnnxGraph:
    """Who reads an identity's output reads its input. One that makes an output goes if a node here makes its input."""
    graph = inside(graph, _without_identities)
    outputs = {value.name for value in graph.outputs}
    made = {name for node in graph.nodes for name in node.outputs if name not in outputs}
    renamed: dict[str, str] = {}
    nodes = []
    for node in graph.nodes:
        if node.op != "Identity":
            nodes.append(node)
            continue
        source, target = renamed.get(node.inputs[0], node.inputs[0]), node.outputs[0]
        if target not in outputs:
            renamed[target] = source
        elif source in made:
            renamed[source] = target
            made.discard(source)
        else:
            nodes.append(node)
    return with_names(replace(graph, nodes=tuple(nodes)), lambda name: _last(renamed, name))


def _last(renamed: Mapping[str, str], name: str) -> str:
    while name in renamed:
        name = renamed[name]
    return name


def with_names(graph: OnnxGraph, rename: Callable[[str], str]) -> OnnxGraph:
    """The graph, and those inside it, with other names."""
    nodes = tuple(
        replace(node, inputs=tuple(map(rename, node.inputs)), outputs=tuple(map(rename, node.outputs)))
        for node in inside(graph, lambda inner: with_names(inner, rename)).nodes
    )
    return OnnxGraph(
        tuple(replace(value, name=rename(value.name)) for value in graph.inputs),
        tuple(replace(value, name=rename(value.name)) for value in graph.outputs),
        {rename(name): tensor for name, tensor in graph.constants.items()},
        nodes,
    )


def without_dead(graph: OnnxGraph) -> OnnxGraph:
    """The graph, and those inside it, without nodes and constants that nobody reads."""
    graph = inside(graph, without_dead)
    wanted = {value.name for value in graph.outputs}
    kept: list[OnnxNode] = []
    for node in reversed(graph.nodes):
        if wanted & {*node.outputs}:
            kept.append(node)
            wanted |= {*node.inputs, *read_inside(node)}
    constants = {name: tensor for name, tensor in graph.constants.items() if name in wanted}
    return replace(graph, constants=constants, nodes=tuple(reversed(kept)))


def read_inside(node: OnnxNode) -> Iterator[str]:
    """The names that graphs inside a node may read from around them."""
    for graph in node.graphs:
        yield from (value.name for value in graph.outputs)
        for inner in graph.nodes:
            yield from inner.inputs
            yield from read_inside(inner)


def all_nodes(graph: OnnxGraph) -> Iterator[OnnxNode]:
    """The nodes of a graph, each before those inside it."""
    for node in graph.nodes:
        yield node
        for inner in node.graphs:
            yield from all_nodes(inner)


def with_short_names(model: OnnxModel) -> tuple[OnnxModel, dict[str, str]]:
    """The model with names that a person would give, and old -> new."""
    names: dict[str, str] = {"": ""}
    counts: Counter[str] = Counter()

    def name(old: str, kind: str, alone: bool = False) -> None:
        if old not in names:
            counts[kind] += 1
            names[old] = kind if alone else f"{kind}{counts[kind] - (kind in 'xy')}"

    def visit(graph: OnnxGraph, top: bool) -> None:
        for value in graph.inputs:
            name(value.name, "x" if top else "i", top and len(graph.inputs) == 1)
        for value in graph.outputs if top else ():
            name(value.name, "y", len(graph.outputs) == 1)
        for constant in graph.constants:
            name(constant, "c")
        for node in graph.nodes:
            for inner in node.graphs:
                visit(inner, top=False)
            for output in node.outputs:
                name(output, "h")
        for value in graph.outputs:
            name(value.name, "h")

    visit(model.graph, top=True)
    return replace(model, graph=with_names(model.graph, lambda old: names.get(old, old))), names


def in_plain_dtypes(model: OnnxModel) -> OnnxModel:
    """The model with float32 inputs and outputs in place of bfloat16 ones, which numpy does not have, and casts."""
    graph, before, after = model.graph, [], []
    renamed: dict[str, str] = {}
    inputs, outputs = [], []
    for value in graph.inputs:
        if value.dtype == "BFLOAT16":
            renamed[value.name] = f"{value.name}_bf16"
            cast = OnnxNode("Cast", "", (value.name,), (renamed[value.name],), {"to": 16})
            before.append(cast)
        inputs.append(replace(value, dtype="FLOAT") if value.dtype == "BFLOAT16" else value)
    for value in graph.outputs:
        if value.dtype == "BFLOAT16":
            renamed.setdefault(value.name, f"{value.name}_bf16")
            after.append(OnnxNode("Cast", "", (renamed[value.name],), (value.name,), {"to": 1}))
        outputs.append(replace(value, dtype="FLOAT") if value.dtype == "BFLOAT16" else value)
    if not renamed:
        return model
    inner = with_names(graph, lambda name: renamed.get(name, name))
    nodes = (*before, *inner.nodes, *after)
    return replace(model, graph=OnnxGraph(tuple(inputs), tuple(outputs), inner.constants, nodes))
