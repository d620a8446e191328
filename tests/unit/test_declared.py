"""Declared bugs that are made to show, without any library."""

from typing import cast

from triaging import Acting
from trials import Routes

from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.execution.conformance import find_rules
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Trial
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ledger.matching import Rule
from cometfuzz.triage.declared import declared_bugs, leads, prove
from cometfuzz.triage.triage import Triage

NAMES = ("keras-tf", "keras-torch")


class Pooling(Acting):
    """keras-torch pools wrongly, or not."""

    def __init__(self, error: float) -> None:
        super().__init__({}, NAMES)
        pooled = "AveragePooling1D"
        self.wrong = Routes(keras_torch=lambda layer, value: value + error if layer == pooled else value)

    def run(self, case: Case, routes: object = (), intermediates: bool = False, other_memory: bool = False) -> Trial:
        return self.wrong(case, routes or NAMES, intermediates)


def pooling_rule() -> Rule:
    (rule,) = (rule for rule in declared_bugs(NAMES) if "borders are replicated" in rule.text)
    return rule


def test_leads_fall_under_the_rule() -> None:
    rule = pooling_rule()
    cases = leads(rule, "keras-torch", "AveragePooling1D", wanted=3)
    assert len(cases) == 3
    covered = [draw_layer("AveragePooling1D", 7, index) for index in range(1500)]
    known = [each.case for each in covered if rule in find_rules("keras-torch", each, usual_view())]
    assert all(case in known for case in cases)


def test_a_declared_bug_that_shows_is_triaged() -> None:
    triage = Triage(cast(Executor, Pooling(1.0)), declared=True)
    proven = prove(pooling_rule(), triage, NAMES)
    assert proven.bug is not None
    assert (proven.route, proven.bug.signature.layers) == ("keras-torch", ("AveragePooling1D",))
    assert proven.bug.finding.defect == pooling_rule().id


def test_one_that_does_not_show_says_so() -> None:
    proven = prove(pooling_rule(), Triage(cast(Executor, Pooling(0.0)), declared=True), NAMES)
    assert proven.bug is None
    assert "calls that it covers shows it" in proven.reason


def test_only_bugs_of_the_routes_are_looked_into() -> None:
    known = declared_bugs(["openvino"])
    assert known
    assert all(rule.defect.kind == "bug" for rule in known)
    assert not any(rule.routes == ("keras-torch",) for rule in known)
