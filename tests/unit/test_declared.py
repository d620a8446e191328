"""Declared bugs that are made to show, without any library."""

from typing import cast

from triaging import Acting
from trials import Routes

from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.execution.conformance import find_gaps
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.ir.case import Case
from cometfuzz.routes.gaps import Gap
from cometfuzz.triage.declared import declared_bugs, leads, prove
from cometfuzz.triage.triage import Triage

NAMES = ("keras-tf", "keras-torch")


class Pooling(Acting):
    """keras-torch pools wrongly, or not."""

    def __init__(self, error: float) -> None:
        super().__init__({}, NAMES)
        pooled = "AveragePooling1D"
        self.wrong = Routes(keras_torch=lambda layer, value: value + error if layer == pooled else value)

    def run(self, case: Case, routes: object = (), intermediates: bool = False) -> Trial:
        return self.wrong(case, routes or NAMES, intermediates)


def pooling_gap() -> Gap:
    (gap,) = (gap for gap in declared_bugs(NAMES) if "borders are replicated" in gap.evidence)
    return gap


def test_leads_fall_under_the_gap() -> None:
    gap = pooling_gap()
    cases = leads(gap, "keras-torch", "AveragePooling1D", wanted=3)
    assert len(cases) == 3
    covered = [draw_layer("AveragePooling1D", 7, index) for index in range(1500)]
    known = [each.case for each in covered if gap in find_gaps("keras-torch", each)]
    assert all(case in known for case in cases)


def test_a_declared_bug_that_shows_is_triaged() -> None:
    triage = Triage(cast(Executor, Pooling(1.0)), declared=True)
    proven = prove(pooling_gap(), triage, NAMES)
    assert proven.bug is not None
    assert (proven.route, proven.bug.signature.layers) == ("keras-torch", ("AveragePooling1D",))
    assert proven.bug.finding.gap == pooling_gap().evidence


def test_one_that_does_not_show_says_so() -> None:
    proven = prove(pooling_gap(), Triage(cast(Executor, Pooling(0.0)), declared=True), NAMES)
    assert proven.bug is None
    assert "calls that it covers shows it" in proven.reason


def test_only_bugs_of_the_routes_are_looked_into() -> None:
    gaps = declared_bugs(["openvino"])
    assert gaps
    assert all(gap.kind == "bug" for gap in gaps)
    assert not any(gap.routes == ("keras-torch",) for gap in gaps)
