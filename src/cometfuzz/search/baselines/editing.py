"""Edits of baselines: they do not repair. A graph whose shapes do not meet afterwards is no model."""

from collections.abc import Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.graph import Draft, Edge, Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.seeds.small import INITIALISERS, ChainedLayer


def with_defaults(layer: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a Keras model has them where nobody says otherwise: with its initialisers."""
    known = CATALOGUE[layer].params
    return {**{name: value for name, value in INITIALISERS.items() if name in known}, **params}


def layers_of(graph: Graph) -> list[Node]:
    """The nodes that count as layers, in order."""
    return [node for node in graph.nodes if CATALOGUE[node.layer].counted]


def input_type(graph: Graph, node: Node) -> TensorType:
    """The type of a node's first input."""
    return graph.type_of(node.inputs[0])


def replaced(graph: Graph, node: Node, layer: str, params: Params) -> Graph:
    """The graph with another call in a node's place."""
    drafts = [draft._replace(layer=layer, params=params) if draft.id == node.id else draft for draft in graph.drafts]
    return assemble(drafts, graph.outputs)


def removed(graph: Graph, node: Node) -> Graph:
    """The graph without a node of one input: who read it reads what it read."""
    drafts = [
        draft._replace(inputs=tuple(_moved(edge, node.id, node.inputs[0]) for edge in draft.inputs))
        for draft in graph.drafts
        if draft.id != node.id
    ]
    return assemble(drafts, tuple(_moved(edge, node.id, node.inputs[0]) for edge in graph.outputs))


def inserted(graph: Graph, node: Node, calls: Sequence[ChainedLayer]) -> tuple[Graph, list[str]]:
    """The graph with a chain of layers behind a node's first output, for all who read it; and their names."""
    names = fresh_names(graph, len(calls))
    last, drafts = Edge(names[-1]), []
    for draft in graph.drafts:
        drafts.append(draft._replace(inputs=tuple(last if edge == Edge(node.id) else edge for edge in draft.inputs)))
        if draft.id == node.id:
            at = Edge(node.id)
            for name, (layer, params) in zip(names, calls, strict=True):
                drafts.append(Draft(name, layer, with_defaults(layer, params), (at,)))
                at = Edge(name)
    outputs = tuple(last if edge == Edge(node.id) else edge for edge in graph.outputs)
    return assemble(drafts, outputs), names


def swapped(graph: Graph, one: Node, two: Node) -> Graph:
    """The graph with two layers in each other's places, each with its weights."""
    other = {one.id: two, two.id: one}

    def moved(edge: Edge) -> Edge:
        return Edge(other[edge.node].id, edge.output) if edge.node in other else edge

    drafts = []
    for draft in graph.drafts:
        if draft.id in other:
            layer = other[draft.id]
            draft = Draft(layer.id, layer.layer, layer.params, draft.inputs)
        drafts.append(draft._replace(inputs=tuple(map(moved, draft.inputs))))
    return assemble(drafts, tuple(map(moved, graph.outputs)))


def fresh_names(graph: Graph, count: int) -> list[str]:
    """Names of nodes that a graph does not have."""
    highest = max((int(node.id[1:]) for node in graph.nodes if node.id[1:].isdigit()), default=-1)
    return [f"n{number}" for number in range(highest + 1, highest + 1 + count)]


def _moved(edge: Edge, node: str, target: Edge) -> Edge:
    return target if edge.node == node else edge
