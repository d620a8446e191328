"""Where NaN and Inf begin in a run of the reference, and whether that is to be expected."""

import numpy as np

from cometfuzz.ir.graph import INPUT, Edge, Graph, Node
from cometfuzz.reference.run import Run

GIVEN, SPECIAL, OVERFLOW, EMPTY = "a given input", "a special value", "overflow", "an average of nothing"


def nonfinite_origins(graph: Graph, run: Run) -> dict[str, str | None]:
    """The nodes that give NaN or Inf on finite inputs, each with the declared reason; None if there is none."""
    origins: dict[str, str | None] = {}
    for node in graph.nodes:
        values = [run.values[Edge(node.id, index)] for index in range(len(node.outputs))]
        if all(np.isfinite(value).all() for value in values):
            continue
        if all(np.isfinite(run.values[edge]).all() for edge in node.inputs):
            origins[node.id] = _reason(graph, node, run)
    return origins


def _reason(graph: Graph, node: Node, run: Run) -> str | None:
    if node.layer == INPUT:
        return GIVEN
    if node.id in run.given:
        return SPECIAL
    values = [run.values[Edge(node.id, index)] for index in range(len(node.outputs))]
    if node.id in run.overflowed or any(np.isinf(value).any() for value in values):
        return OVERFLOW
    if any(kind.elements == 0 for kind in graph.input_types(node)):
        return EMPTY
    return None
