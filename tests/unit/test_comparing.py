"""Differences to the reference, and the page that shows what routes support."""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import draw_data
from cometfuzz.execution.comparing import compare
from cometfuzz.execution.doctor import tiny_case
from cometfuzz.execution.executor import select_outputs, with_all_outputs
from cometfuzz.execution.matrix import support_matrix
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.protocol import WireTensor
from cometfuzz.ir.graph import Edge
from cometfuzz.reference.run import run

CASE = tiny_case()


def outcome(values: np.ndarray, name: str = "one") -> Outcome:
    tensor = WireTensor(values.dtype.name, values.shape, values.tobytes())
    return Outcome(name, "completed", "run", "library", (tensor,))


def right() -> np.ndarray:
    return run(CASE.graph, draw_data(CASE)).values[Edge("relu")].astype(np.float32)


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


def test_the_support_matrix_says_why() -> None:
    def tally(right: int, *reasons: str) -> dict[str, object]:
        return {"draws": 3, "value_ok": right, "reasons": list(reasons)}

    report = {
        "routes": {
            "one": {"by_layer": {"ReLU": tally(3), "Dense": tally(2, "no bfloat16")}},
            "two": {"by_layer": {"ReLU": tally(0, "no ReLU at all")}},
        }
    }
    page = support_matrix(report, "cometfuzz conformance")
    assert "| Dense | 2/3 |  |" in page
    assert "| ReLU | all | none |" in page
    assert "- two, ReLU: no ReLU at all" in page
    assert "no bfloat16" not in page
