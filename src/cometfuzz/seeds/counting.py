"""Inputs, parameter values and sequences of a model as the paper's table of originals counts them."""

from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import PAPER_PARAMETERS, paper_space, paper_table, text
from cometfuzz.ir.graph import Graph

NEVER_RECORDED = ("units", "filters")


def as_the_authors_count(*graphs: Graph) -> dict[str, int]:
    """The three counts of what some graphs cover together. Inputs and sequences are those of the paper's space.

    Parameter values differ from the space in two ways. Every parameter that the space lists for the layer is recorded,
    whether or not the value is among the listed ones and however many there are: no regulariser and no constraint
    (null) count as a value each. And `units` and `filters` are never recorded.
    """
    coverage = Coverage(paper_space())
    recorded = set()
    for graph in graphs:
        coverage.cover(graph)
    for node in (node for graph in graphs for node in graph.nodes):
        for parameter in paper_table()["layers"].get(node.layer, {"parameters": {}})["parameters"]:
            if parameter not in NEVER_RECORDED:
                today = PAPER_PARAMETERS.get((node.layer, parameter), parameter)
                recorded.add((node.layer, parameter, text(node.params[today])))
    inputs, sequences = coverage.covered("inputs"), coverage.covered("sequences")
    return {"inputs": inputs, "parameters": len(recorded), "sequences": sequences}
