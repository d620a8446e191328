"""How conformance judges an outcome: accepted, declared, or our fault."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import LayerDraw, draw_layer
from cometfuzz.execution import conformance
from cometfuzz.execution.conformance import Report, Result, judge_draw
from cometfuzz.execution.outcome import Failure, Outcome, Trial
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.matching import Rule, View, rules
from cometfuzz.protocol import WireTensor
from cometfuzz.reference.run import narrow, run
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES

ROUTE = ROUTES["keras-tf"]


def right_answer(drawn: LayerDraw) -> list[WireTensor]:
    graph = drawn.case.graph
    values = run(graph, draw_data(drawn.case)).values
    kinds = [(edge, graph.type_of(edge)) for edge in graph.outputs]
    return [WireTensor(kind.dtype, kind.shape, narrow(values[edge], kind.dtype).tobytes()) for edge, kind in kinds]


def judged(monkeypatch: pytest.MonkeyPatch, outcome: Outcome, *known: Rule) -> Result:
    monkeypatch.setattr(conformance, "find_rules", lambda route, drawn, view: list(known))
    return judge_draw(ROUTE, draw_layer("ELU", 1, 0), 0, outcome)


def completed(outputs: list[WireTensor]) -> Outcome:
    return Outcome("keras-tf", "completed", "run", "keras", outputs)


def raised(kind: str) -> Outcome:
    return Outcome("keras-tf", "exception", "build", "keras", failure=Failure(kind, (kind, "Exception"), "no", ()))


def rule(**changes: object) -> Rule:
    defect = Defect("t", "w", "keras", id="elu")
    return Rule(defect, ("keras-tf",), ("ELU",), lambda x, p: True, **changes)  # type: ignore[arg-type]


def test_the_right_answer_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    result = judged(monkeypatch, completed(right_answer(draw_layer("ELU", 1, 0))))
    assert (result.accepted, result.shape_ok, result.value_ok, result.undeclared) == (True, True, True, "")


@pytest.mark.parametrize(
    ("route", "stage", "message", "said"),
    [
        ("onnxruntime", "tf2onnx", "No Op registered for Log1p", True),
        ("onnxruntime", "tf2onnx", "list index out of range", False),
        ("onnxruntime", "build", "bfloat16 is not supported", False),
        ("keras-tf", "run", "bfloat16 is not supported", False),
        ("openvino-saved", "compile", "No conversion rule found for operations: BesselI0", True),
    ],
)
def test_what_a_converter_says_that_it_lacks_need_not_be_declared(
    monkeypatch: pytest.MonkeyPatch, route: str, stage: str, message: str, said: bool
) -> None:
    """What a front end lacks must be: models are made of what it takes."""
    monkeypatch.setattr(conformance, "find_rules", lambda route, drawn, view: [])
    failure = Failure("RuntimeError", ("RuntimeError",), message, ())
    outcome = Outcome(route, "exception", stage, "a library", failure=failure)
    result = judge_draw(ROUTES[route], draw_layer("ELU", 1, 0), 0, outcome)
    assert (result.said, result.undeclared == "") == (said, said)
    report = Report()
    report.add(result)
    assert (report.total(route).said, report.total(route).undeclared) == (int(said), int(not said))


@pytest.mark.parametrize("always", [False, True])
def test_what_a_defect_may_show_and_does_not_leaves_a_converter_its_word(
    monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    """A value that may be wrong is no reason to doubt that there is none."""
    monkeypatch.setattr(conformance, "find_rules", lambda route, drawn, view: [rule(symptom="value", always=always)])
    failure = Failure("RuntimeError", ("RuntimeError",), "No translator found for ATAN2 node.", ())
    outcome = Outcome("openvino-tflite", "exception", "load", "openvino", failure=failure)
    result = judge_draw(ROUTES["openvino-tflite"], draw_layer("ELU", 1, 0), 0, outcome)
    assert (result.said, result.undeclared == "") == (not always, not always)


def test_a_wrong_value_is_undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    good = right_answer(draw_layer("ELU", 1, 0))[0]
    bad = good._replace(data=bytes(len(good.data)))
    result = judged(monkeypatch, completed([bad]))
    assert result.shape_ok
    assert "differ" in result.undeclared


def test_a_wrong_dtype_shape_or_count_is_undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    good = right_answer(draw_layer("ELU", 1, 0))[0]
    for outputs in ([good._replace(dtype="int32")], [good._replace(shape=(1, *good.shape))], [good, good]):
        result = judged(monkeypatch, completed(outputs))
        assert result.accepted
        assert not result.shape_ok
        assert result.undeclared


def test_a_declared_exception_is_a_rule_and_another_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = rule(raises="ValueError")
    assert judged(monkeypatch, raised("ValueError"), declared).undeclared == ""
    assert "shows otherwise" in judged(monkeypatch, raised("TypeError"), declared).undeclared
    assert judged(monkeypatch, raised("ValueError")).undeclared


def test_a_rule_that_passes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = completed(right_answer(draw_layer("ELU", 1, 0)))
    assert "passes" in judged(monkeypatch, answer, rule(raises="ValueError")).undeclared
    assert judged(monkeypatch, answer, rule(symptom="value", always=False)).undeclared == ""


def test_a_signal_is_a_death_not_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = Outcome("keras-tf", "signal", "run", "keras", detail="SIGSEGV")
    assert judged(monkeypatch, dead, rule(raises="Exception")).undeclared
    assert judged(monkeypatch, dead, rule(symptom="death")).undeclared == ""


@dataclass
class Mortal:
    """An executor whose child died of an earlier call, and answers when it is asked again."""

    answers: list[Outcome]
    view: View = field(default_factory=usual_view)
    routes: Mapping[str, Route] = field(default_factory=lambda: ROUTES)

    def submit(self, case: Case, routes: Sequence[str] = ()) -> Future[Trial]:
        future: Future[Trial] = Future()
        future.set_result(Trial(case, {name: self.answers.pop(0) for name in routes}))
        return future


@pytest.mark.parametrize("again", ["completed", "signal"])
def test_a_child_that_dies_is_asked_again(monkeypatch: pytest.MonkeyPatch, again: str) -> None:
    monkeypatch.setattr(conformance, "find_rules", lambda route, drawn, view: [])
    drawn = draw_layer("ELU", 1, 0)
    dead = Outcome("keras-tf", "signal", "run", "keras", detail="SIGSEGV")
    executor = Mortal([dead, completed(right_answer(drawn)) if again == "completed" else dead])
    (result,) = conformance._judged(executor, drawn, 0, executor.submit(drawn.case, ["keras-tf"]))  # type: ignore[arg-type]
    assert (result.undeclared == "") == (again == "completed")
    assert not executor.answers


def test_rules_do_not_count_as_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report()
    report.add(judged(monkeypatch, raised("ValueError"), rule(raises="ValueError")))
    report.add(judged(monkeypatch, completed(right_answer(draw_layer("ELU", 1, 0)))))
    report.add(judged(monkeypatch, raised("ValueError")))
    total = report.total("keras-tf")
    assert (total.draws, total.refused, total.accepted, total.value_ok, total.undeclared) == (3, 1, 1, 1, 1)
    assert report.as_plain()["routes"]["keras-tf"]["by_layer"]["ELU"]["draws"] == 3


def test_a_declared_wrong_value_is_a_bug_not_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    good = right_answer(draw_layer("ELU", 1, 0))[0]
    report = Report()
    report.add(judged(monkeypatch, completed([good._replace(data=bytes(len(good.data)))]), rule(symptom="value")))
    total = report.total("keras-tf")
    assert (total.refused, total.accepted, total.shape_ok, total.value_ok, total.bugs) == (0, 1, 1, 0, 1)
    assert total.undeclared == 0


def test_every_rule_names_known_routes_and_has_evidence() -> None:
    known = {*ROUTES, *(step.name for route in ROUTES.values() for step in route.steps)}
    for declared in rules():
        assert set(declared.routes) <= known
        assert declared.text
        assert declared.raises or declared.symptom != "exception", declared


def test_draws_are_the_same_every_time() -> None:
    one, other = draw_layer("Conv2D", 3, 4), draw_layer("Conv2D", 3, 4)
    assert one.case == other.case
    assert not np.array_equal(one.case.rng_seed, draw_layer("Conv2D", 3, 5).case.rng_seed)
