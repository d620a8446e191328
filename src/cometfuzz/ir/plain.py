"""Graphs and parameter values in JSON's own types. Standard library only: parent and workers share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.ir.graph import Edge, Graph, Inner, Node, Params
from cometfuzz.ir.types import TensorType


def value_to_plain(value: Any) -> Any:
    if isinstance(value, Inner):
        return {"layer": value.layer, "params": params_to_plain(value.params)}
    if isinstance(value, tuple):
        return [value_to_plain(item) for item in value]
    return value


def params_to_plain(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value_to_plain(value) for name, value in params.items()}


def value_from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {name: value_from_plain(item) for name, item in value["params"].items()}
        return Inner(value["layer"], Params(inner))
    if isinstance(value, list):
        return tuple(value_from_plain(item) for item in value)
    return value


def graph_to_plain(graph: Graph) -> dict[str, Any]:
    """The graph without its types, which follow from the catalogue: the form of a case file."""
    nodes = [
        {
            "id": node.id,
            "layer": node.layer,
            "params": params_to_plain(node.params),
            "inputs": [list(edge) for edge in node.inputs],
        }
        for node in graph.nodes
    ]
    return {"nodes": nodes, "outputs": [list(edge) for edge in graph.outputs]}


def typed_to_plain(graph: Graph) -> dict[str, Any]:
    """The graph with the type of every output: what a worker needs, since it has no catalogue."""
    plain = graph_to_plain(graph)
    for text, node in zip_strictly(plain["nodes"], graph.nodes):
        text["outputs"] = [[kind.dtype, list(kind.shape), kind.masked, kind.high] for kind in node.outputs]
    return plain


def typed_from_plain(plain: Mapping[str, Any]) -> Graph:
    """The inverse of `typed_to_plain`; it trusts its input, which comes from the parent."""
    nodes = tuple(
        Node(
            id=text["id"],
            layer=text["layer"],
            params=Params({name: value_from_plain(value) for name, value in text["params"].items()}),
            inputs=tuple(Edge(*edge) for edge in text["inputs"]),
            outputs=tuple(
                TensorType(dtype, tuple(shape), masked, high) for dtype, shape, masked, high in text["outputs"]
            ),
        )
        for text in plain["nodes"]
    )
    return Graph(nodes, tuple(Edge(*edge) for edge in plain["outputs"]))


def manner_to_plain(manner: Manner) -> dict[str, Any]:
    """What a manner has that the plain one has not; nothing of the plain one."""
    found = {each.name: getattr(manner, each.name) for each in fields(Manner)}
    return {name: _listed(value) for name, value in found.items() if value != getattr(PLAIN, name)}


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: list(sizes) for name, sizes in value.items()}
    return [_listed(each) for each in value] if isinstance(value, tuple) else value


def manner_from_plain(plain: Mapping[str, Any]) -> Manner:
    """The inverse of `manner_to_plain`; it trusts its input, as the types of `ir.codec` or the parent have it."""
    return Manner(**{name: _untouchable(value) for name, value in plain.items()})


def _untouchable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: tuple(sizes) for name, sizes in value.items()}
    return tuple(_untouchable(each) for each in value) if isinstance(value, list) else value
