"""Every layer on every Keras route: accepted, with the predicted type and value, or declared as a gap."""

import pytest

from cometfuzz.execution.conformance import Report, conform, layers_of
from cometfuzz.routes.registry import ROUTES

pytestmark = pytest.mark.library

DRAWS = {"keras-tf": 10, "keras-torch": 10, "keras-jax": 2, "keras2-tf": 10}
"""Draws of each layer: JAX compiles every call, so it gets fewer. `cometfuzz conformance` does larger runs."""


@pytest.mark.parametrize("route", DRAWS)
def test_no_undeclared_difference(route: str) -> None:
    report = Report()
    for result in conform([ROUTES[route]], layers_of(ROUTES[route]), DRAWS[route], seed=1):
        report.add(result)
    total = report.total(route)
    differences = [f"{found.layer} draw {found.index}: {found.undeclared}" for found in report.undeclared]
    assert not differences
    assert total.draws == DRAWS[route] * len(layers_of(ROUTES[route]))
    assert total.accepted >= 0.98 * (total.draws - total.gaps)
    assert total.shape_ok == total.accepted
