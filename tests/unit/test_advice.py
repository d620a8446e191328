"""What `cometfuzz check` says of a route that fails: known or not, where, and what can be done."""

from dataclasses import replace
from pathlib import Path

import bugs as handmade
from trials import Routes, chain, completed, raised

from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.case import Case
from cometfuzz.ledger.defect import Defect, Upstream
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.checking import check_model
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.advice import Advice, Adviser
from cometfuzz.triage.collection import Collected
from cometfuzz.triage.known import Known, KnownIssue

GELU = chain((2, 6), ("Dense", {"units": 5, "activation": "gelu"}), ("Dense", {"units": 5}))
PLAIN = chain((2, 6), ("Dense", {"units": 5}))


def advice_on(case: Case, outcome: Outcome, known: Known | None = None) -> Advice:
    """On a route that fails beside others that agree."""
    others = {
        name: completed(name, out.outputs) for name, out in Routes()(case, ["keras-tf", "torch-onnx"]).outcomes.items()
    }
    bench = Bench(Trial(case, {**others, outcome.route: outcome}), Routes())
    answers = {each.route: each for each in check_model(bench)}
    agreeing = [name for name, each in answers.items() if each.verdict == "agrees"]
    adviser = Adviser(bench, known or Known(), [ROUTES[name] for name in answers], agreeing)
    return adviser.advise(outcome, answers[outcome.route].finding)


def failing(message: str = "an odd shape", kind: str = "ValueError") -> Outcome:
    outcome = raised("onnxruntime", kind, message, stage="tf2onnx", library="tf2onnx")
    return replace(outcome, versions={"tf2onnx": "1.17.0"})


def test_an_entry_of_the_ledger_with_its_layer_and_the_parameter_that_it_takes() -> None:
    advice = advice_on(GELU, failing("No Op registered for Erfc", "ValidationError"))
    assert advice.known.startswith("limit tf2onnx-erfc: No Op registered for Erfc")
    assert advice.places == ("n0 (Dense, activation='gelu')",)
    assert advice.actions == (
        "use Dense without activation='gelu', which is not known to fail",
        "reach onnxruntime by another way that agrees: torch-onnx",
        "try a release later than tf2onnx 1.17.0",
    )


def test_a_collected_bug_with_its_link() -> None:
    finding = check_model(Bench(Trial(PLAIN, {"onnxruntime": failing()}), Routes()))[0].finding
    assert finding is not None
    link = "https://github.com/onnx/tensorflow-onnx/issues/1"
    collected = Collected(
        Path("bugs/a-slug"),
        handmade.bug(PLAIN, finding),
        Defect("t", "It is wrong.", "tf2onnx", upstream=(Upstream(link),)),
    )
    advice = advice_on(PLAIN, failing(), Known(collected=(collected,)))
    assert (advice.known, advice.link) == ("bug in bugs/a-slug: It is wrong.", link)
    assert advice.actions[-1].startswith(f"read {link}, and try a release later than tf2onnx 1.17.0")


def test_a_known_issue_with_its_link() -> None:
    issue = KnownIssue(link="https://example.org/1", note="mended soon", library="tf2onnx", failure="ValueError*")
    advice = advice_on(PLAIN, failing(), Known(issues=(issue,)))
    assert (advice.known, advice.link) == ("known issue: mended soon", "https://example.org/1")


def test_what_nobody_knows_can_be_reduced() -> None:
    advice = advice_on(PLAIN, failing())
    assert (advice.known, advice.link) == ("", "")
    assert "cometfuzz reduce case.json --route onnxruntime" in advice.actions[-1]


def test_a_limit_of_ours_can_be_raised() -> None:
    late = Outcome("litert", "timeout", "convert", "litert-converter", detail="60 s")
    advice = advice_on(PLAIN, late)
    assert advice.actions[0].startswith("raise stage_s or case_s under [limits] in cometfuzz.toml")
    assert not any("reduce" in action for action in advice.actions)


def test_what_fails_already_in_keras_is_told_of_the_converter_too() -> None:
    outcomes = {name: raised(name, "ValueError", "an odd shape") for name in ("keras-tf", "litert")}
    answers = check_model(Bench(Trial(PLAIN, outcomes), Routes()))
    assert [answer.finding is not None for answer in answers] == [True, True]
