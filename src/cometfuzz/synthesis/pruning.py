"""Closing a graph, and taking out of it what is not needed."""

from collections.abc import Sequence

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.codec import in_topological_order
from cometfuzz.ir.graph import Edge, Graph, Node
from cometfuzz.synthesis.wanted import Wanted


def closed(nodes: Sequence[Node]) -> Graph:
    """The graph of these nodes without loose utility nodes and inputs; every layer that nobody reads is an output."""
    kept = {node.id: node for node in nodes}
    while True:
        read = {edge.node for node in kept.values() for edge in node.inputs}
        ends = [node for node in kept.values() if node.id not in read]
        loose = [node for node in ends if not CATALOGUE[node.layer].counted]
        if not loose or len(kept) == 1:
            break
        for node in loose[: len(kept) - 1]:
            del kept[node.id]
    return assemble(in_topological_order([node.draft for node in kept.values()]), [Edge(node.id) for node in ends])


def without_needless(graph: Graph, wanted: Wanted) -> Graph:
    """The graph without the layers at its ends that cover nothing that others do not cover."""
    missing = len(wanted.without(graph).missing())
    for node in reversed(graph.nodes):
        if Edge(node.id) in graph.outputs and len(graph.nodes) > 2:
            smaller = closed([other for other in graph.nodes if other.id != node.id])
            if len(wanted.without(smaller).missing()) <= missing:
                graph = smaller
    return graph
