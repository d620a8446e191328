"""Utility nodes on every route: exact, bit for bit."""

from typing import Any

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.reference.run import narrow, run
from cometfuzz.routes.registry import ROUTES

pytestmark = pytest.mark.library

UTILITIES: list[tuple[str, dict[str, Any], str]] = [
    *(("cast", {"dtype": to}, dtype) for to, dtype in [("float16", "float32"), ("float64", "bfloat16")]),
    *(("cast", {"dtype": "int32", "high": high}, dtype) for high, dtype in [(2, "float32"), (3, "int32"), (1, "bool")]),
    *(("cast", {"dtype": "bool"}, dtype) for dtype in ("float16", "int32", "bool")),
    ("cast", {"dtype": "float32"}, "int32"),
    ("pad", {"paddings": ((0, 1), (2, 0), (0, 0)), "value": -1.25}, "bfloat16"),
    ("pad", {"paddings": ((0, 1), (2, 0), (0, 0)), "value": 2.0}, "int32"),
    ("crop", {"crops": ((0, 1), (1, 1), (0, 0))}, "float32"),
    ("crop", {"crops": ((2, 0), (0, 0), (0, 0))}, "float32"),
    ("expand", {"axis": 0}, "float16"),
    ("expand", {"axis": 3}, "int32"),
    ("squeeze", {"axis": 2}, "float64"),
    ("reshape", {"shape": (3, 1, 2)}, "bool"),
    *(("special", {"value": value, "elements": "first"}, "float32") for value in ("nan", "inf", "-inf", "zero")),
    *(("special", {"value": value, "elements": "all"}, "float16") for value in ("nan", "inf", "-inf", "zero")),
]


@pytest.mark.parametrize("route", ["keras-tf", "keras-torch", "keras-jax", "keras2-tf"])
def test_utilities_are_exact(route: str) -> None:
    with Executor([ROUTES[route]]) as executor:
        for layer, params, dtype in UTILITIES:
            high = 5 if dtype == "int32" else None
            drafts = [
                Draft("x", "input", {"dtype": dtype, "shape": (2, 3, 1), "high": high}, ()),
                Draft("u", layer, params, (Edge("x"),)),
            ]
            case = Case(assemble(drafts, [Edge("u")]), 3)
            data = draw_data(case)
            outcome = executor.run(case).outcomes[route]
            place = f"{layer} {params} of {dtype}: {outcome}"
            assert outcome.status == "completed", place
            expected = case.graph.type_of(Edge("u"))
            seen = array_of(outcome.outputs[0])
            assert (outcome.outputs[0].dtype, seen.shape) == (expected.dtype, expected.shape), place
            np.testing.assert_array_equal(seen, narrow(run(case.graph, data).values[Edge("u")], expected.dtype), place)
