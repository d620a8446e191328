"""One child of JAX has 64 bits for the cases that need them, and for no others."""

import pytest

from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes.registry import ROUTES

pytestmark = pytest.mark.library

NAMES = ("keras-jax", "jax-export")


def _case(dtype: str) -> Case:
    """A sum of integers, of which Keras says int32, beside floats."""
    drafts = [
        Draft("n", "input", {"dtype": "int32", "shape": (2, 3), "high": 4}, ()),
        Draft("x", "input", {"dtype": dtype, "shape": (2, 3)}, ()),
        Draft("sum", "ops.sum", {}, (Edge("n"),)),
        Draft("dense", "Dense", {"units": 2}, (Edge("x"),)),
    ]
    return Case(assemble(drafts, [Edge("sum"), Edge("dense")]), 1)


def test_a_child_has_64_bits_where_a_case_needs_them_and_not_afterwards() -> None:
    with Executor([ROUTES[name] for name in NAMES], 1, WorkerLimits(stage_s=120.0)) as executor:
        for dtype, number in (("float32", "int32"), ("float64", "int64"), ("float32", "int32")):
            trial = executor.run(_case(dtype), NAMES)
            for name in NAMES:
                seen = [tensor.dtype for tensor in trial.outcomes[name].outputs]
                assert (name, seen) == (name, [number, dtype])
                assert number == "int64" or compare(trial)[name].ok  # int64 is a known bug of Keras
