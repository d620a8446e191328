"""Inputs, parameter values and sequences of a model as the paper's table of originals counts them."""

from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import PAPER_PARAMETERS, paper_space, paper_table, text
from cometfuzz.ir.graph import Graph

NEVER_RECORDED = ("units", "filters")


def as_the_authors_count(graph: Graph) -> dict[str, int]:
    """The three counts. Inputs and sequences are those of the paper's space.

    Parameter values differ from the space in two ways. Every parameter that the space lists for the layer is recorded,
    whether or not the value is among the listed ones and however many there are: no regulariser and no constraint
    (null) count as a value each. And `units` and `filters` are never recorded.
    """
    gain = Coverage(paper_space()).gain(graph)
    recorded = set()
    for node in graph.nodes:
        for parameter in paper_table()["layers"].get(node.layer, {"parameters": {}})["parameters"]:
            if parameter not in NEVER_RECORDED:
                today = PAPER_PARAMETERS.get((node.layer, parameter), parameter)
                recorded.add((node.layer, parameter, text(node.params[today])))
    return {"inputs": gain.count("inputs"), "parameters": len(recorded), "sequences": gain.count("sequences")}
