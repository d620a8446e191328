"""The small seed models have the sizes and the coverage that the paper publishes for them."""

import math
from typing import NamedTuple

import pytest

from cometfuzz.catalogue.data import weight_shapes
from cometfuzz.catalogue.validate import validate
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import PAPER_PARAMETERS, paper_space, paper_table, text
from cometfuzz.ir.graph import INPUT, Graph
from cometfuzz.seeds import SMALL


class Published(NamedTuple):
    """One row of the paper's table "Statistics of Original Models"."""

    layers: int
    weights_millions: float
    inputs: int
    parameters: int
    sequences: int


PAPER = {
    "AlexNet": Published(17, 21.592, 22, 35, 5),
    "LSTM (SineWave)": Published(5, 0.071, 9, 22, 2),
    "LeNet": Published(9, 0.062, 14, 20, 3),
    "LSTM (StockPrice)": Published(3, 0.026, 6, 21, 1),
}
WEIGHTS = {"AlexNet": 21_592_330, "LSTM (SineWave)": 70_901, "LeNet": 61_706, "LSTM (StockPrice)": 26_626}
NEVER_RECORDED = ("units", "filters")

each_model = pytest.mark.parametrize("name", PAPER)


def weights(graph: Graph) -> int:
    return sum(math.prod(shape) for node in graph.nodes for shape in weight_shapes(graph, node).values())


def parameters_as_the_authors_count(graph: Graph) -> int:
    """Distinct (layer, parameter, value) by the rule behind the paper's table.

    It differs from the paper's space in two ways. Every parameter that the space lists for the layer is recorded,
    whether or not the value is among the listed ones: no regulariser and no constraint (null) count as a value each.
    And `units` and `filters` are never recorded.
    """
    recorded = set()
    for node in graph.nodes:
        listed = paper_table()["layers"].get(node.layer, {"parameters": {}})["parameters"]
        for parameter in listed:
            if parameter not in NEVER_RECORDED:
                today = PAPER_PARAMETERS.get((node.layer, parameter), parameter)
                recorded.add((node.layer, parameter, text(node.params[today])))
    return len(recorded)


def test_the_models_are_those_of_the_table() -> None:
    assert list(SMALL) == list(PAPER)


@each_model
def test_every_model_is_valid(name: str) -> None:
    assert validate(SMALL[name]()) == []


@each_model
def test_layers(name: str) -> None:
    assert sum(node.layer != INPUT for node in SMALL[name]().nodes) == PAPER[name].layers


@each_model
def test_weights(name: str) -> None:
    """The paper's last digit is rounded for LeNet and SineWave, but cut off for StockPrice (0.026626 M)."""
    total = weights(SMALL[name]())
    assert total == WEIGHTS[name]
    assert abs(total / 1e6 - PAPER[name].weights_millions) < 0.001


@each_model
def test_inputs_and_sequences(name: str) -> None:
    gain = Coverage(paper_space()).cover(SMALL[name]())
    assert (gain.count("inputs"), gain.count("sequences")) == (PAPER[name].inputs, PAPER[name].sequences)


@each_model
def test_parameters(name: str) -> None:
    assert parameters_as_the_authors_count(SMALL[name]()) == PAPER[name].parameters
