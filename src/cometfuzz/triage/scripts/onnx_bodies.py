"""Makes nodes that hold graphs simpler: If becomes one of its branches, Loop carries less, bodies make less."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cometfuzz.triage.scripts.onnx_graph import (
    Fed,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    read_inside,
    with_names,
)

_Item = TypeVar("_Item")


def inlined(graph: OnnxGraph, at: int, values: Mapping[str, OnnxTensor]) -> Iterator[OnnxGraph]:
    """A graph with the branch that an If takes in its place."""
    node = graph.nodes[at]
    if node.op != "If" or node.inputs[0] not in values:
        return
    branch: OnnxGraph = node.attributes["then_branch" if values[node.inputs[0]].values[0] else "else_branch"]
    names = {value.name: name for value, name in zip(branch.outputs, node.outputs, strict=True)}
    branch = with_names(branch, lambda name: names.get(name, name))
    nodes = (*graph.nodes[:at], *branch.nodes, *graph.nodes[at + 1 :])
    yield replace(graph, nodes=nodes, constants={**graph.constants, **branch.constants})


def fewer_ports(graph: OnnxGraph, at: int) -> Iterator[OnnxGraph]:
    """A graph with a Loop that carries one value less, or gives one less, where nobody reads it."""
    node = graph.nodes[at]
    body = node.attributes.get("body")
    if node.op != "Loop" or not isinstance(body, OnnxGraph):
        return
    read = {value.name for value in graph.outputs}
    read |= {name for each in graph.nodes for name in (*each.inputs, *read_inside(each))}
    carried = len(node.inputs) - 2
    for port, name in enumerate(node.outputs):
        if name in read or len(node.outputs) == 1:
            continue
        outputs = _without(node.outputs, port)
        inner = replace(body, outputs=_without(body.outputs, port + 1))
        inputs = node.inputs
        if port < carried:  # the body reads the first value from around it
            old, new = body.inputs[port + 2].name, node.inputs[port + 2]
            inner = replace(inner, inputs=_without(body.inputs, port + 2))
            inner = with_names(inner, lambda each, old=old, new=new: new if each == old else each)  # type: ignore[misc]
            inputs = _without(inputs, port + 2)
        slim = replace(node, inputs=inputs, outputs=outputs, attributes={**node.attributes, "body": inner})
        yield replace(graph, nodes=with_item(graph.nodes, at, slim))


def made_outside(graph: OnnxGraph, at: int) -> Iterator[OnnxGraph]:
    """A graph with a node that has a body in which one reads an input of the whole, not what the body makes itself."""
    node = graph.nodes[at]
    for name, body in node.attributes.items():
        if not isinstance(body, OnnxGraph):
            continue
        own = {*body.constants, *(made for inner in body.nodes for made in inner.outputs)}
        places = [(number, port) for number, inner in enumerate(body.nodes) for port in range(len(inner.inputs))]
        for number, port in places:
            inner = body.nodes[number]
            for given in graph.inputs if inner.inputs[port] in own else ():
                reader = replace(inner, inputs=(*inner.inputs[:port], given.name, *inner.inputs[port + 1 :]))
                smaller = replace(body, nodes=with_item(body.nodes, number, reader))
                holder = replace(node, attributes={**node.attributes, name: smaller})
                yield replace(graph, nodes=with_item(graph.nodes, at, holder))


def turned(graph: OnnxGraph, at: int) -> Iterator[OnnxGraph]:
    """A graph with the branches of an If changed round that is never true, if there is something that always is."""
    node, true = graph.nodes[at], OnnxTensor("BOOL", (), (True,))
    fixed = graph.constants.get(node.inputs[0]) if node.op == "If" else None
    other = next((name for name, constant in graph.constants.items() if constant == true), None)
    if fixed is not None and not fixed.values[0] and other is not None:
        swapped = {"then_branch": node.attributes["else_branch"], "else_branch": node.attributes["then_branch"]}
        changed = replace(node, inputs=(other,), attributes=swapped)
        yield replace(graph, nodes=with_item(graph.nodes, at, changed))


def with_item(items: tuple[_Item, ...], at: int, item: _Item) -> tuple[_Item, ...]:
    """The items with another one at a place."""
    return (*items[:at], item, *items[at + 1 :])


def _without(items: tuple[_Item, ...], at: int) -> tuple[_Item, ...]:
    return (*items[:at], *items[at + 1 :])


def first_round(model: OnnxModel, node: OnnxNode, body: OnnxGraph, values: Mapping[str, OnnxTensor]) -> Fed | None:
    """The body of an If or a Loop as a model, fed with what it is given at first; None if that is unknown."""
    given: dict[str, OnnxTensor | None] = {}
    if node.op == "Loop":
        start = [OnnxTensor("INT64", (), (0,)), OnnxTensor("BOOL", (), (True,)), *map(values.get, node.inputs[2:])]
        given = {value.name: tensor for value, tensor in zip(body.inputs, start, strict=True)}
    around = {name: values[name] for name in read_inside(node) if name in values and name not in given}
    feeds = {name: tensor for name, tensor in given.items() if tensor is not None}
    if node.op not in ("If", "Loop") or len(feeds) < len(body.inputs):
        return None
    inputs = tuple(OnnxValue(name, tensor.dtype, tensor.shape) for name, tensor in feeds.items())
    graph = replace(body, inputs=inputs, constants={**around, **body.constants})
    return Fed(replace(model, graph=graph), feeds)


def with_fewer(body: OnnxGraph, kept: Sequence[int], seen: Mapping[str, OnnxTensor]) -> OnnxGraph | None:
    """A body with some of its nodes; the values of the others are constants, None if one of them is not known."""
    nodes = [body.nodes[at] for at in sorted(kept)]
    made = {name for node in nodes for name in node.outputs}
    needed = {value.name for value in body.outputs}
    needed |= {name for node in nodes for name in (*node.inputs, *read_inside(node))}
    missing = [name for node in body.nodes for name in node.outputs if name in needed and name not in made]
    if not seen.keys() >= {*missing}:
        return None
    return replace(body, nodes=tuple(nodes), constants={**body.constants, **{name: seen[name] for name in missing}})
