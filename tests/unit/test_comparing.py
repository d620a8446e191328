"""Differences to the reference, and the page that shows what routes support."""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import draw_data
from cometfuzz.execution.comparing import array_of, compare
from cometfuzz.execution.doctor import tiny_case
from cometfuzz.execution.executor import select_outputs, with_all_outputs
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.graph import Edge
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.run import run

CASE = tiny_case()


def outcome(values: np.ndarray, name: str = "one") -> Outcome:
    tensor = WireTensor(values.dtype.name, values.shape, values.tobytes())
    return Outcome(name, "completed", "run", "library", (tensor,))


def right() -> np.ndarray:
    return run(CASE.graph, draw_data(CASE)).values[Edge("relu")].astype(np.float32)


def test_a_dtype_that_no_graph_has_is_read_too() -> None:
    values = np.array([[1, 2**40]])
    assert np.array_equal(array_of(outcome(values).outputs[0]), values)
    assert not compare(Trial(CASE, {"one": outcome(values)}))["one"].ok


def test_rounding_is_within_the_bound_and_a_fault_is_not() -> None:
    outcomes = {
        "right": outcome(right()),
        "rounded": outcome(right() * np.float32(1 + 1e-7)),
        "wrong": outcome(right() + np.float32(0.1)),
        "narrow": outcome(right().astype(np.float16)),
        "failed": Outcome("failed", "signal", "run", "library"),
    }
    found = compare(Trial(CASE, outcomes))
    assert found["right"].ok
    assert found["rounded"].ok
    assert 0 < (found["rounded"].bounds or 0) < 1
    assert not found["wrong"].ok
    assert (found["wrong"].bounds or 0) > 100
    assert "WRONG" in found["wrong"].text
    assert found["narrow"].bounds is None
    assert "float16" in found["narrow"].detail
    assert "failed" not in found


def test_nothing_completed_is_nothing_compared() -> None:
    assert compare(Trial(CASE, {"failed": Outcome("failed", "exception", "run", "library")})) == {}


def test_intermediates_are_the_nodes_and_outputs_stay_what_they_are() -> None:
    widened = with_all_outputs(CASE.graph)
    assert widened.outputs == (Edge("dense"), Edge("relu"))
    tensors = tuple(WireTensor("float32", (1,), bytes([index] * 4)) for index in range(2))
    seen = select_outputs(replace(outcome(right()), outputs=tensors), CASE.graph, widened)
    assert seen.outputs == tensors[1:]
    assert seen.nodes == {Edge("dense"): tensors[0], Edge("relu"): tensors[1]}
    failed = Outcome("one", "signal", "run", "library")
    assert select_outputs(failed, CASE.graph, widened) is failed
