"""The oracle of memory: an answer that follows the bytes that memory holds, there and back, and nothing else."""

from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest
from click.testing import Result
from trials import Fault, Routes, chain
from typer.testing import CliRunner

from cometfuzz.catalogue.data import Array
from cometfuzz.cli import app
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.case import Case
from cometfuzz.oracles import memory
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.symptoms import about

CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}), ("Dense", {"units": 3}))
ROUTES = ("keras-tf", "keras-torch", "onnxruntime")


def unwritten(value: float, wrong: str = "ReLU") -> Fault:
    """The last element of what a layer gives is as memory was."""

    def fault(layer: str, right: Array) -> Array:
        found = right.copy()
        if layer == wrong:
            found[..., -1] = value
        return found

    return fault


class Filled(Routes):
    """Routes of which some give what a fault makes of it, one fault for each filling of memory."""

    def __init__(self, usual: Fault, other: Fault, wrong: Sequence[str] = ("keras-torch",)) -> None:
        super().__init__()
        self.usual, self.other, self.wrong, self.asked = usual, other, wrong, list[tuple[str, ...]]()

    def __call__(
        self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        if other_memory:
            self.asked.append(tuple(routes))
        self.faults = dict.fromkeys(self.wrong, self.other if other_memory else self.usual)
        return super().__call__(case, routes, intermediates)


@pytest.fixture(autouse=True)
def _on_any_libc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: True)


def judged(routes: Routes, everything: bool = False, again: Trial | None = None) -> list[Finding]:
    return list(examine(Bench(routes(CASE, ROUTES), routes, again, memory=everything)))


def test_a_wrong_value_that_follows_the_bytes_is_memory_that_nobody_wrote() -> None:
    routes = Filled(unwritten(1.5e16), unwritten(-6328.0))
    found, value = judged(routes)
    assert (found.symptom, found.layer, found.node, value.symptom) == ("uninitialised", "ReLU", "n1", "value")
    assert [camp.routes for camp in found.camps] == [("keras-torch",), ("keras-tf", "onnxruntime")]
    assert "6 of 6 elements depend on uninitialised memory: [0, 0] is" in found.detail
    assert (found.severity, found.counts) == ("high", True)
    assert set(routes.asked) == {("keras-torch",)}, "only what looks wrong is run again"


def test_a_plausible_value_shows_only_where_all_routes_are_asked() -> None:
    """Within the bound of every judgement of values, but not the same bits."""
    routes = Filled(lambda layer, right: right, lambda layer, right: right * np.float32(1 + 1e-7))
    assert judged(routes) == []
    (found,) = judged(routes, everything=True)
    assert (found.symptom, found.layer) == ("uninitialised", "Dense")


def test_libraries_that_read_at_the_same_node_are_different_findings() -> None:
    routes = Filled(unwritten(1.5e16), unwritten(-6328.0), wrong=("keras-torch", "onnxruntime"))
    found = [each for each in judged(routes) if each.symptom == "uninitialised"]
    assert [each.camps[0].routes for each in found] == [("keras-torch",), ("onnxruntime",)]
    assert [each.camps[1].routes for each in found] == [("keras-tf",), ("keras-tf",)]


def test_a_defect_that_may_show_in_any_way_explains_it() -> None:
    """An entry of the ledger: who feeds such a model by names runs it on memory that nobody has written to."""
    routes = Filled(unwritten(1.5e16, "Dropout"), unwritten(-6328.0, "Dropout"), wrong=("direct-openvino",))
    case = chain((2, 6), ("Dropout", {"rate": 0.5}), ("ReLU", {}))
    found = examine(Bench(routes(case, ("keras-tf", "keras-torch", "direct-openvino")), routes, None))
    assert {(each.symptom, each.defect) for each in found} == {
        ("uninitialised", "openvino-dropout-input-name"),
        ("value", "openvino-dropout-input-name"),
    }


def test_what_is_wrong_in_any_memory_is_no_more_than_that() -> None:
    (found,) = judged(Filled(unwritten(5.0), unwritten(5.0)))
    assert found.symptom == "value"


def test_what_differs_from_run_to_run_is_not_taken_for_it() -> None:
    numbers = count(1)
    wandering: Fault = lambda layer, right: right + np.float32(next(numbers) if layer == "ReLU" else 0)  # noqa: E731
    routes = Filled(wandering, wandering)
    assert {found.symptom for found in judged(routes, everything=True)} == {"value"}
    assert routes.asked


def test_what_differs_in_a_second_run_is_asked() -> None:
    routes = Filled(lambda layer, right: right, lambda layer, right: right)
    again = Routes(keras_torch=lambda layer, right: right * np.float32(1 + 1e-7))(CASE, ROUTES)
    assert [found.symptom for found in judged(routes, again=again)] == ["nondeterminism"]
    assert routes.asked == [("keras-torch",)]


def test_a_route_that_dies_of_other_memory() -> None:
    class Dying(Routes):
        def __call__(
            self, case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            trial = super().__call__(case, routes, intermediates)
            dead = Outcome("keras-tf", self.ends, "run", "tensorflow", detail="SIGSEGV")
            return Trial(case, {**trial.outcomes, "keras-tf": dead}) if other_memory else trial

        ends = "signal"

    (found,) = judged(Dying(), everything=True)
    assert (found.symptom, found.camps[0].routes, found.layer) == ("uninitialised", ("keras-tf",), "")
    assert "SIGSEGV" in found.detail
    slow = Dying()
    slow.ends = "timeout"
    assert judged(slow, everything=True) == []


def test_without_glibc_nothing_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: False)
    routes = Filled(unwritten(1.5e16), unwritten(-6328.0))
    assert [found.symptom for found in judged(routes, everything=True)] == ["value"]
    assert routes.asked == []


def test_it_explains_values_that_are_wrong_at_the_same_place() -> None:
    assert {"value", "nonfinite", "nondeterminism"} <= set(about("uninitialised").implies)


@pytest.mark.parametrize("poisoned", [True, False])
def test_doctor_says_if_memory_is_not_poisoned(poisoned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cometfuzz.cli.routes.examine", lambda *given: [])
    monkeypatch.setattr("cometfuzz.cli.routes.available", lambda: poisoned)

    def doctor(*more: str) -> Result:
        return CliRunner().invoke(app, ["doctor", *more])

    assert ("memory is not poisoned" in doctor().output) is not poisoned
    assert f'"poisoned_memory": {str(poisoned).lower()}' in doctor("--json").output
