"""Where NaN and Inf begin, and whether that is declared."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from cometfuzz.catalogue.data import Data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.reference.nonfinite import EMPTY, GIVEN, OVERFLOW, SPECIAL, nonfinite_origins
from cometfuzz.reference.run import run


def origins(
    layer: str, params: Mapping[str, Any], value: float, shape: tuple[int, ...] = (1, 3)
) -> dict[str, str | None]:
    drafts = [
        Draft("x", "input", {"shape": shape}, ()),
        Draft("n0", layer, params, (Edge("x"),)),
        Draft("n1", "Identity", {}, (Edge("n0"),)),
    ]
    graph = assemble(drafts, [Edge("n1")])
    return nonfinite_origins(graph, run(graph, Data({"x": np.full(shape, value, dtype=np.float32)}, {})))


def test_finite_values_have_no_origin() -> None:
    assert origins("Activation", {"activation": "exponential"}, 1.0) == {}


@pytest.mark.parametrize(
    ("layer", "params", "value", "shape", "reason"),
    [
        ("special", {"value": "nan", "elements": "first"}, 1.0, (1, 3), SPECIAL),
        ("scale", {"value": "inf"}, 1.0, (1, 3), SPECIAL),
        ("Activation", {"activation": "exponential"}, 1000.0, (1, 3), OVERFLOW),
        ("GlobalAveragePooling1D", {}, 1.0, (1, 0, 3), EMPTY),
    ],
)
def test_only_the_first_node_is_named(
    layer: str, params: Mapping[str, Any], value: float, shape: tuple[int, ...], reason: str
) -> None:
    assert origins(layer, params, value, shape) == {"n0": reason}


def test_what_is_given_is_the_origin_of_what_it_leads_to() -> None:
    assert origins("UnitNormalization", {}, float("nan")) == {"x": GIVEN}
