"""Utility nodes on every route: exact, bit for bit."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from typing import Any

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.configuring import on_demand
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.reference.bound import expect, judge
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
    *(("scale", {"value": value}, dtype) for value, dtype in [("nan", "float16"), ("inf", "bfloat16")]),
    *(("scale", {"value": value}, dtype) for value, dtype in [("-inf", "float32"), ("zero", "float64")]),
]


CONSTANT = "a model whose output does not depend on its input: KeyError: 'output_000'"
LIMITS: list[tuple[str, Callable[[str, dict[str, Any], str], bool], str]] = [
    ("litert", lambda u, p, d: p.get("dtype") == "bool" and d == "float16", "'tf.NotEqual' op is not supported"),
    ("litert", lambda u, p, d: u == "crop", "an empty tensor: Invalid tensor size"),
    ("litert", lambda u, p, d: "inf" in str(p.get("value")), "infinity becomes the largest number"),
    ("*openvino*", lambda u, p, d: d == "float64", "float64 is computed in float32"),
    ("*openvino*", lambda u, p, d: (d, p.get("value")) == ("bfloat16", "inf"), "the largest number for infinity"),
    ("openvino-tflite", lambda u, p, d: u == "crop", "an output without elements is none of the model's"),
    ("onnx2*torch", lambda u, p, d: p.get("elements") == "all", CONSTANT),
    ("keras-h5", lambda u, p, d: True, "Keras 3 writes operations into HDF5, and does not know them when it reads it"),
]
"""What routes do not do, beside declared known: the pattern of a route's name, (utility, parameters, dtype), why."""


Utility = tuple[str, dict[str, Any], str]


def _case(utilities: Sequence[Utility]) -> Case:
    """A model that has each utility, on an input of its own."""
    drafts = []
    for place, (layer, params, dtype) in enumerate(utilities):
        high = 5 if dtype == "int32" else None
        drafts.append(Draft(f"x{place}", "input", {"dtype": dtype, "shape": (2, 3, 1), "high": high}, ()))
        drafts.append(Draft(f"u{place}", layer, params, (Edge(f"x{place}"),)))
    return Case(assemble(drafts, [Edge(f"u{place}") for place in range(len(utilities))]), 3)


def _excused(route: str, utility: Utility) -> bool:
    graph = _case([utility]).graph
    node, spec = graph.by_id["u0"], CATALOGUE[utility[0]]
    declared = usual_view().rules_against(route, spec, spec.view(graph.input_types(node)), node.params)
    return any(declared) or any(fnmatch(route, pattern) and when(*utility) for pattern, when, _ in LIMITS)


def _wrong(executor: Executor, route: str, utilities: Sequence[Utility]) -> list[str]:
    """What of the utilities is not exact on a route; or why their model does not run."""
    case = _case(utilities)
    outcome = executor.run(case, [route]).outcomes[route]
    if outcome.status != "completed" or len(outcome.outputs) != len(utilities):
        return [f"{route}: {len(utilities)} utilities, {len(outcome.outputs)} outputs: {outcome}"]
    wrong, values = [], run(case.graph, draw_data(case)).values
    for edge, tensor, utility in zip(case.graph.outputs, outcome.outputs, utilities, strict=True):
        seen, expected = array_of(tensor), narrow(values[edge], case.graph.type_of(edge).dtype)
        same = (seen.dtype, seen.shape) == (expected.dtype, expected.shape)
        if not same or not np.array_equal(seen.astype(float), expected.astype(float), equal_nan=True):
            wrong.append(f"{route}: {utility}: {seen}, expected {expected}")
    return wrong


def test_utilities_are_exact_on_every_route() -> None:
    """All in one model, which takes ten seconds on some; by themselves where that is wrong, to say which it is."""
    wrong = []
    with Executor([route for route in ROUTES.values() if not on_demand(route)]) as executor:
        for route in executor.routes:
            mine = [utility for utility in UTILITIES if not _excused(route, utility)]
            if mine and _wrong(executor, route, mine):
                wrong += [each for utility in mine for each in _wrong(executor, route, [utility])]
    assert not wrong, "\n".join(wrong)


MASKED = ("keras-tf", "keras-torch", "keras2-tf", "onnxruntime")


def test_a_cast_to_the_same_dtype_drops_the_mask() -> None:
    """Keras gives back the tensor itself where a cast has nothing to do, and its mask would travel on."""
    drafts = [
        Draft("x", "input", {"dtype": "int32", "shape": (2, 4), "high": 2}, ()),
        Draft("e", "Embedding", {"input_dim": 2, "output_dim": 3, "mask_zero": True}, (Edge("x"),)),
        Draft("c", "cast", {"dtype": "float32"}, (Edge("e"),)),
        Draft("m", "GlobalAveragePooling1D", {}, (Edge("c"),)),
    ]
    case = Case(assemble(drafts, [Edge("m")]), 3)
    data = draw_data(case)
    assert 0 < data.inputs["x"].mean() < 1  # some steps are masked, some are not
    expected = expect(case.graph, data)[Edge("m")]
    with Executor([ROUTES[name] for name in MASKED]) as executor:
        for route, outcome in executor.run(case).outcomes.items():
            assert outcome.status == "completed", f"{route}: {outcome}"
            verdict = judge(expected, array_of(outcome.outputs[0]))
            assert verdict.ok, f"{route}: {verdict.detail}"
