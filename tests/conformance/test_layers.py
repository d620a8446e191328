"""Every layer and operator on every Keras route: accepted, with the predicted type and value, or declared as a rule."""

import os

import pytest

from cometfuzz.catalogue import LAYERS, OPERATORS
from cometfuzz.execution.configuring import on_demand
from cometfuzz.execution.conformance import Report, conform, layers_of
from cometfuzz.routes.registry import ROUTES, with_turn

pytestmark = pytest.mark.library

DRAWS = {"keras-tf": 10, "keras-torch": 10, "keras-jax": 2, "keras2-tf": 10}
"""Draws of each layer: JAX compiles every call, so it gets fewer. `cometfuzz conformance` does larger runs."""


OPERATOR_DRAWS = {"keras-tf": (2, 1), "keras-torch": (2, 1), "keras-jax": (1, 4)}
"""Draws of each operator, and one in how many operators is drawn; with EVIDENCE=all, every one as often as layers."""


@pytest.mark.parametrize("route", DRAWS)
def test_no_undeclared_difference(route: str) -> None:
    _expect_no_difference(route, layers_of(ROUTES[route], list(LAYERS)), DRAWS[route])


@pytest.mark.parametrize("route", OPERATOR_DRAWS)
def test_no_undeclared_difference_of_operators(route: str) -> None:
    draws, one_in = OPERATOR_DRAWS[route]
    if os.environ.get("EVIDENCE") == "all":
        draws, one_in = DRAWS[route], 1
    _expect_no_difference(route, list(OPERATORS)[::one_in], draws)


def _expect_no_difference(route: str, names: list[str], draws: int) -> None:
    report = Report()
    for result in conform([ROUTES[route]], names, draws, seed=1):
        report.add(result)
    total = report.total(route)
    differences = [f"{found.layer} draw {found.index}: {found.undeclared}" for found in report.undeclared]
    assert not differences
    assert total.draws == draws * len(names)
    assert total.accepted >= 0.98 * (total.draws - total.refused)
    assert total.shape_ok == total.accepted


def test_no_undeclared_difference_behind_keras() -> None:
    """One draw of each layer on all the others at once, which share their model and their ONNX file.

    Without those that get no case unless they are asked for, which take seconds a model, and without the newer ones
    that are sampled (all but XLA and MXNet), whose entries have not been held against all layers yet. `make
    conformance` has them.
    """
    dear = () if os.environ.get("EVIDENCE") == "all" else (*with_turn(""), *with_turn("sampled")[2:])
    behind = [
        route for name, route in ROUTES.items() if name not in DRAWS and name not in dear and not on_demand(route)
    ]
    report = Report()
    for result in conform(behind, list(LAYERS), 1, seed=1):
        report.add(result)
    assert set(report.by_layer) == {route.name for route in behind}
    differences = [f"{found.route} {found.layer} draw {found.index}: {found.undeclared}" for found in report.undeclared]
    assert not differences, "\n".join(differences)
