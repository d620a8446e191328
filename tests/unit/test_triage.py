"""Triage as a whole: from a finding to one bug, without any library."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from triaging import Acting, Condition, crash_of
from trials import Routes, chain, wire

from cometfuzz.catalogue.data import to_array, to_tensor
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Failure, Outcome, Trial
from cometfuzz.ir.case import Case, Manner
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import AGAINST
from cometfuzz.triage.bug import Blame, Bug, Script, Signature
from cometfuzz.triage.confirm import Confirmed
from cometfuzz.triage.known import Known, KnownIssue
from cometfuzz.triage.localise import change_rates
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.signature import covers, layers_of
from cometfuzz.triage.triage import FORMULA_ALONE, REFUSED, TOO_FEW, UNDECIDED, Triage

NAMES = ("keras-tf", "keras-torch", "openvino")
CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}), ("Dense", {"units": 3}), ("Softmax", {}))


class Wrong(Acting):
    """An executor whose routes give wrong values, as `trials.Routes` does."""

    def __init__(self, routes: Routes) -> None:
        super().__init__({}, NAMES)
        self.wrong = routes

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        self.ran += 1
        return self.wrong(case, routes or NAMES, intermediates)


def triage_of(executor: Acting, **settings: object) -> Triage:
    return Triage(cast(Executor, executor), effort=Effort(steps=500), **settings)  # type: ignore[arg-type]


def crashing(condition: Condition, **more: object) -> Acting:
    return Acting({"openvino": condition}, NAMES, **more)  # type: ignore[arg-type]


def softmax(graph: Graph) -> bool:
    return any(node.layer == "Softmax" for node in graph.nodes)


CRASH = crash_of("openvino", "keras-tf", "keras-torch")


def wrong(executor: Wrong) -> Finding:
    trial = executor.run(CASE)
    (found,) = examine(Bench(trial, executor.run))
    return found


def negated_relu(layer: str, value: np.ndarray) -> np.ndarray:
    return -value if layer == "ReLU" else value


def test_a_crash_becomes_a_bug_of_one_layer() -> None:
    result = triage_of(crashing(softmax)).triage(CRASH, CASE)
    assert result.new
    bug = result.bug
    assert bug is not None
    assert bug.signature.layers == ("Softmax",)
    assert (bug.runs, bug.shown, bug.flaky) == (3, 3, False)
    assert bug.blame.role == "converter tf2onnx"
    assert bug.finding.evidence["located"]["at"] == "Softmax (n3)"
    assert bug.finding.evidence["reduction"] == "complete"
    assert bug.original is CASE
    assert bug.title.startswith("Softmax raises an exception: converter tf2onnx")


def test_a_wrong_value_is_isolated_and_cradle_agrees() -> None:
    executor = Wrong(Routes(openvino=negated_relu))
    bug = triage_of(executor).triage(wrong(executor), CASE).bug
    assert bug is not None
    assert (bug.signature.layers, bug.signature.symptom, bug.signature.condition) == (("ReLU",), "value", "")
    assert bug.finding.evidence["located"] == {"at": "ReLU (n1)", "by": "intermediates", "r_l": "ReLU (n1)"}
    assert bug.minimal.graph.inputs[0].params.shape == (1, 1)


def test_all_libraries_against_the_reference_is_a_bug_too() -> None:
    executor = Wrong(Routes(openvino=negated_relu, keras_tf=negated_relu, keras_torch=negated_relu))
    bug = triage_of(executor).triage(wrong(executor), CASE).bug
    assert bug is not None
    assert bug.blame.role == f"Keras on every backend ({AGAINST})"
    assert bug.signature.layers == ("ReLU",)


def test_a_second_finding_of_a_bug_runs_nothing() -> None:
    executor = crashing(softmax)
    triage = triage_of(executor)
    first = triage.triage(CRASH, CASE).bug
    ran = executor.ran
    again = triage.triage(CRASH, chain((3, 4), ("ReLU", {}), ("Softmax", {})))
    assert (again.bug, again.new, executor.ran) == (first, False, ran)
    later = triage_of(executor, bugs=dict(triage.bugs)).triage(CRASH, CASE)
    assert (later.bug, later.new, executor.ran) == (first, False, ran)


def test_what_turned_out_to_be_a_known_bug_is_not_worked_out_twice() -> None:
    executor = Wrong(Routes(openvino=negated_relu))
    finding = wrong(executor)
    triage = triage_of(executor)
    bug = triage.triage(finding, CASE).bug
    assert bug is not None
    narrow = chain((1, 1), ("ReLU", {"max_value": 3.0}))
    triage.bugs[bug.id] = replace(bug, minimal=narrow)  # as if the reduction had kept a parameter too much
    ran = executor.ran
    assert triage.triage(finding, CASE).bug is triage.bugs[bug.id]
    assert executor.ran == ran


def test_a_known_issue_is_said_to_be_known_and_costs_no_run() -> None:
    executor = crashing(softmax)
    issue = KnownIssue(link="https://example.org/1", failure="RuntimeError*")
    asked: list[Bug] = []
    result = triage_of(executor, known=Known((issue,)), reproduce=asked.append).triage(CRASH, CASE)
    assert result.bug is not None
    assert result.bug.known == "https://example.org/1"
    assert (executor.ran, asked) == (0, [])
    issue = KnownIssue(note="later", library="tf2onnx", layers="Softmax", condition="")
    result = triage_of(executor, known=Known((issue,)), reproduce=asked.append).triage(CRASH, CASE)
    assert result.bug is not None
    assert (result.bug.known, result.bug.signature.layers, asked) == ("later", ("Softmax",), [])


def test_what_is_declared_or_not_supported_is_left_alone() -> None:
    executor = crashing(softmax)
    for finding in (replace(CRASH, defect="known limit"), replace(CRASH, symptom="unsupported")):
        result = triage_of(executor).triage(finding, CASE)
        assert (result.bug, executor.ran) == (None, 0)
        assert result.reason in ("known limit", "unsupported")


def test_what_is_declared_is_a_bug_if_asked_for() -> None:
    executor = Wrong(Routes(keras_torch=lambda layer, value: value + 1 if layer == "AveragePooling1D" else value))
    pooling = {"pool_size": (4,), "strides": (1,), "padding": "same"}
    case = chain((2, 6, 3), ("ReLU", {}), ("AveragePooling1D", pooling), ("ReLU", {}))
    (finding,) = examine(Bench(executor.run(case), executor.run))
    assert finding.defect == "keras-torch-averagepooling-same-channels-first-value"
    assert triage_of(executor).triage(finding, case).reason == finding.defect
    bug = triage_of(executor, declared=True).triage(finding, case).bug
    assert bug is not None
    assert (bug.signature.layers, bug.finding.defect, bug.shown) == (("AveragePooling1D",), finding.defect, 3)


def test_a_crash_over_what_is_declared_is_known() -> None:
    """What raises over a wrong value that is declared is no bug of its own."""

    class Both(Wrong):
        def run(
            self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            outcomes = dict(super().run(case, routes, intermediates).outcomes)
            if "keras-torch" in outcomes and {"Softmax", "AveragePooling1D"} <= {n.layer for n in case.graph.nodes}:
                outcomes.update(Acting({"keras-torch": softmax}, NAMES).run(case, ["keras-torch"]).outcomes)
            return Trial(case, outcomes)

    wrong_pooling = Routes(keras_torch=lambda layer, value: value + 1 if layer == "AveragePooling1D" else value)
    pooling = {"pool_size": (4,), "strides": (1,), "padding": "same"}
    case = chain((2, 6, 3), ("AveragePooling1D", pooling), ("Softmax", {}))
    bug = triage_of(Both(wrong_pooling)).triage(crash_of("keras-torch", "keras-tf", "openvino"), case).bug
    assert bug is not None
    assert bug.known == "known: keras-torch-averagepooling-same-channels-first-value"


def test_what_all_do_alike_with_an_infinity_is_no_bug_though_the_formula_has_it_otherwise() -> None:
    def alike(layer: str, value: np.ndarray) -> np.ndarray:
        return np.where(np.isinf(value), np.nan, value).astype(value.dtype) if layer == "Rescaling" else value

    executor = Wrong(Routes(**dict.fromkeys(("keras_tf", "keras_torch", "openvino"), alike)))
    case = replace(chain((1, 2), ("Rescaling", {})), data={"x": to_tensor(np.full((1, 2), np.inf, np.float32))})
    finding = next(iter(examine(Bench(executor.run(case), executor.run))))
    bug = triage_of(executor).triage(finding, case).bug
    assert bug is not None
    assert (bug.limit, bug.known) == (True, FORMULA_ALONE)


@pytest.mark.parametrize(("more", "known"), [((), TOO_FEW), (("onnx-reference", "keras-jax"), "")])
def test_a_wrong_number_made_of_a_nan_takes_enough_libraries_that_are_right(more: Sequence[str], known: str) -> None:
    """What the index of a NaN is, say, is often left open."""
    found = replace(crash_of("keras-torch", "keras-tf", "openvino", *more), symptom="value")
    triage = triage_of(crashing(softmax))
    triage.executor.names = (*NAMES, *more)  # type: ignore[attr-defined]
    who = Blame("torch", "run", "Keras, torch backend", "", 0.9)
    assert triage._left_open(replace(found, data_kind="special"), who, Trial(CASE, {})) == known
    assert triage._left_open(found, who, Trial(CASE, {})) == ""


def test_an_empty_tensor_that_several_libraries_refuse_is_left_open() -> None:
    def refused(route: str, library: str) -> Outcome:
        return Outcome(route, "exception", "run", library, failure=Failure("ValueError", (), "too small", ()))

    who = Blame("torch", "run", "Keras, torch backend", "", 0.9)
    one, two = refused("keras-torch", "torch"), refused("onnxruntime", "onnxruntime")
    found, triage = replace(crash_of("keras-torch", "keras-tf"), data_kind="empty"), triage_of(crashing(softmax))
    assert triage._left_open(found, who, Trial(CASE, {"keras-torch": one})) == ""
    both = Trial(CASE, {"keras-torch": one, "onnxruntime": two})
    assert triage._left_open(found, who, both) == REFUSED
    assert triage._left_open(replace(found, data_kind="ordinary"), who, both) == ""


@pytest.mark.parametrize(
    ("given", "failing", "limit"),
    [
        (np.nan, ("keras_torch", "openvino"), True),
        (np.nan, ("openvino",), False),
        (1.0, ("keras_torch", "openvino"), False),
    ],
)
def test_what_strangers_do_alike_with_a_nan_is_no_bug(given: float, failing: Sequence[str], limit: bool) -> None:
    """But it is one if a library alone hides the NaN, or if it comes of ordinary numbers."""

    def fault(layer: str, value: np.ndarray) -> np.ndarray:
        return np.full_like(value, 0.0 if np.isnan(given) else np.nan) if layer == "Rescaling" else value

    executor = Wrong(Routes(**dict.fromkeys(failing, fault)))
    case = replace(chain((1, 2), ("Rescaling", {})), data={"x": to_tensor(np.full((1, 2), given, np.float32))})
    finding = next(iter(examine(Bench(executor.run(case), executor.run))))
    bug = triage_of(executor).triage(finding, case).bug
    assert bug is not None
    assert (bug.finding.symptom, bug.limit, UNDECIDED in bug.known) == ("nonfinite", limit, limit)


def test_flaky_is_marked_with_its_rate_and_still_reduced() -> None:
    bug = triage_of(crashing(softmax, flaky=lambda number: number % 3 != 1)).triage(CRASH, CASE).bug
    assert bug is not None
    assert (bug.shown, bug.runs, bug.flaky) == (2, 3, True)
    assert bug.signature.layers == ("Softmax",)


def test_it_is_confirmed_in_a_fresh_worker_of_the_stage_that_failed() -> None:
    executor = crashing(softmax)
    triage_of(executor).triage(CRASH, CASE)
    assert executor.renewed == ["openvino"]


def test_what_does_not_show_again_is_kept_with_a_rate_of_none() -> None:
    asked: list[Bug] = []  # for a script: the values of a whole model that did not fail again would prove nothing
    bug = triage_of(crashing(softmax, flaky=lambda number: False), reproduce=asked.append).triage(CRASH, CASE).bug
    assert bug is not None
    assert (bug.shown, bug.runs, bug.minimal, asked) == (0, 3, CASE, [])
    assert bug.finding.evidence["reduction"] == "did not show again"


def test_the_script_belongs_to_the_bug() -> None:
    script = Script("print(1)", "main", True, 1, "1")
    bug = triage_of(crashing(softmax), reproduce=lambda bug: script).triage(CRASH, CASE).bug
    assert bug is not None
    assert bug.script is script
    assert bug.reported


def test_ones_may_show_in_a_clean_process_what_zeros_do_not() -> None:
    """Uninitialised memory holds what an earlier model left; in a clean process it is zero, as the data are."""
    executor = Wrong(Routes(openvino=lambda layer, value: np.full_like(value, 7.0) if layer == "ReLU" else value))

    def clean_process(bug: Bug) -> Script:
        (name,) = (node.id for node in bug.minimal.graph.inputs)
        return Script("", "main", bool(to_array(bug.minimal.data[name]).any()), 1, "")

    bug = triage_of(executor, reproduce=clean_process).triage(wrong(executor), CASE).bug
    assert bug is not None
    assert bug.reported
    assert "expected 1 " in bug.finding.detail
    assert bug.finding.camps[0].what == bug.finding.detail
    hidden = triage_of(executor, reproduce=lambda bug: Script("", "main", False, 0, "")).triage(wrong(executor), CASE)
    assert hidden.bug is not None
    assert not hidden.bug.reported
    assert "expected 0 " in hidden.bug.finding.detail


def test_a_reduction_that_was_cut_short_says_so() -> None:
    triage = replace(triage_of(crashing(softmax)), effort=Effort(steps=5))
    bug = triage.triage(CRASH, CASE).bug
    assert bug is not None
    assert bug.finding.evidence["reduction"] == "cut short after 5 steps"


def test_a_crash_over_what_went_wrong_before_is_that_bug() -> None:
    """One layer gives a wrong value, and the next one raises over it: one fix, one bug."""

    class Both(Wrong):
        def run(
            self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
        ) -> Trial:
            outcomes = dict(super().run(case, routes, intermediates).outcomes)
            if (
                "openvino" in outcomes
                and softmax(case.graph)
                and any(node.layer == "Dense" for node in case.graph.nodes)
            ):
                outcomes.update(crashing(softmax).run(case, ["openvino"]).outcomes)
            return Trial(case, outcomes)

    triage = triage_of(Both(Routes(openvino=lambda layer, value: value + 1 if layer == "Dense" else value)))
    case = chain((2, 6), ("ReLU", {}), ("Dense", {"units": 5}), ("Softmax", {}))
    bug = triage.triage(CRASH, case).bug
    assert bug is not None
    assert (bug.signature.symptom, bug.signature.layers) == ("value", ("Dense",))
    assert bug.original is case
    assert not triage.triage(CRASH, case).new


def test_an_executor_that_pauses_is_refused() -> None:
    with pytest.raises(CometfuzzError, match="pause_after=3"):
        triage_of(crashing(softmax, pause_after=3))


def test_change_rates_are_cradles() -> None:
    """(d - b) / (b + 1e-7), with d the mean distance of a layer's outputs and b the largest of what it reads."""
    case = chain((1, 2), ("ReLU", {}), ("ReLU", {}))
    one = {Edge("n0"): wire(np.array([[1.0, 2.0]])), Edge("n1"): wire(np.array([[1.0, 6.0]]))}
    two = {Edge("n0"): wire(np.array([[1.0, 3.0]])), Edge("n1"): wire(np.array([[1.0, 3.0]]))}
    rates = change_rates(case.graph, one, two)
    assert rates["n0"] == pytest.approx(0.5 / 1e-7)
    assert rates["n1"] == pytest.approx((1.5 - 0.5) / 0.5, rel=1e-5)


def test_routes_of_the_tests_exist() -> None:
    assert set(NAMES) <= set(ROUTES)


class Worded(Acting):
    """Every route has its own words for what fails."""

    def _outcome(self, case: Case, name: str, intermediates: bool) -> Outcome:
        outcome = super()._outcome(case, name, intermediates)
        if outcome.failure is None:
            return outcome
        return replace(outcome, failure=replace(outcome.failure, message=f"no, says {name}"))


def test_what_fails_on_all_libraries_is_one_bug_though_each_has_its_own_words() -> None:
    names = ("keras-tf", "keras-torch")
    executor = Worded(dict.fromkeys(names, softmax), names)
    triage = triage_of(executor)
    first, second = (
        triage.triage(replace(crash_of(name), failure=f"RuntimeError: no, says {name}"), CASE) for name in names
    )
    assert first.bug is not None
    assert first.new
    assert AGAINST in first.bug.blame.role
    assert (second.new, second.bug) == (False, first.bug)


def test_a_title_names_a_few_layers_and_conditions() -> None:
    triage = triage_of(crashing(softmax))
    many = Signature("a library", "run", "crash", tuple("ABCDEF"), "", ", ".join("abcdefgh"))
    bug = triage._bug(many, CRASH, CASE, CASE, Blame("", "", "runtime X", "", 0.5), Confirmed(3, 3, None), "", 0.0)
    assert bug.title == (
        "A > B > C > ... 2 more ... > F raises an exception: runtime X (a, b, c, d, e, ... 2 more ..., h)"
    )
    assert bug.signature == many


MANNER = Manner(named=True, inside=("n1", "n2"), opened={"x": (0,)}, before=({"x": (5,)}, {"x": (1,)}))


class Particular(Acting):
    """An executor whose OpenVINO fails where a condition on the manner holds, over a Softmax."""

    def __init__(self, needed: Callable[[Manner], bool]) -> None:
        super().__init__({}, NAMES)
        self.needed = needed

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        self.conditions = {"openvino": lambda graph: softmax(graph) and self.needed(case.manner)}
        return super().run(case, routes, intermediates, other_memory)


@pytest.mark.parametrize(
    ("needed", "left", "words"),
    [
        (lambda manner: True, Manner(), ""),
        (lambda manner: bool(manner.opened), Manner(opened={"x": (0,)}), "open sizes"),
        (lambda manner: bool(manner.before), Manner(opened={"x": (0,)}, before=({"x": (5,)},)), "other sizes before"),
        (lambda manner: manner.named, Manner(named=True), "dictionaries"),
    ],
)
def test_of_a_manner_only_that_is_left_without_which_nothing_shows(
    needed: Callable[[Manner], bool], left: Manner, words: str
) -> None:
    result = triage_of(Particular(needed)).triage(CRASH, replace(CASE, manner=MANNER)).bug
    assert result is not None
    assert layers_of(result.minimal.graph) == ("Softmax",)
    names = dict(zip(left.opened, [node.id for node in result.minimal.graph.inputs], strict=False))
    assert replace(result.minimal.manner, opened={}, before=()) == replace(left, opened={}, before=())
    assert result.minimal.manner.opened == {names[name]: axes for name, axes in left.opened.items()}
    assert len(result.minimal.manner.before) == len(left.before)
    assert words in result.title
    assert covers(result, CRASH, CASE.graph, MANNER)
    assert covers(result, CRASH, CASE.graph) == (left == Manner())
