"""The answer of `cometfuzz check`: which routes a model survives."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from trials import Routes, answer, chain, completed, raised, wire

from cometfuzz.catalogue.data import Array
from cometfuzz.cli.check import summary
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.ir.case import Case
from cometfuzz.oracles import checking
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.checking import Answer, check_model, exit_code
from cometfuzz.protocol import WireTensor

CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}))
ROUTES = ("keras-tf", "onnxruntime")


def verdicts(answers: Sequence[Answer]) -> dict[str, str]:
    return {answer.route: answer.verdict for answer in answers}


def test_routes_that_agree_and_routes_that_do_not() -> None:
    good = check_model(Bench(Routes()(CASE, ROUTES), Routes()))
    assert (set(verdicts(good).values()), exit_code(good)) == ({"agrees"}, 0)
    off = Routes(onnxruntime=lambda layer, value: value * 1.01 if layer == "ReLU" else value)
    answers = check_model(Bench(off(CASE, ROUTES), off))
    assert (list(verdicts(answers).values()), exit_code(answers)) == (["agrees", "disagrees"], 1)
    assert answers[1].text.startswith("value: ReLU")
    assert answers[1].difference is not None
    assert 0.005 < answers[1].difference < 0.02


def test_a_small_model_on_one_route_is_judged_by_the_reference() -> None:
    answers = check_model(Bench(Routes()(CASE, ["onnxruntime"]), Routes()))
    assert (verdicts(answers), exit_code(answers)) == ({"onnxruntime": "agrees"}, 0)


def test_a_route_that_fails_is_said_to_fail() -> None:
    trial = Trial(CASE, {**Routes()(CASE, ["keras-tf"]).outcomes, "litert": raised("litert", "ValueError", "no")})
    answers = check_model(Bench(trial, Routes()))
    assert verdicts(answers) == {"keras-tf": "agrees", "litert": "failed"}
    assert summary(answers) == "Of 2 routes: 1 agree, 1 failed."
    assert exit_code(answers) == 1


def test_what_no_single_layer_explains_is_still_no_agreement() -> None:
    """With the outputs of every node, which is how layers are judged, it does not show."""

    def rerun(case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False) -> Trial:
        trial = Routes()(case, routes, intermediates)
        if intermediates:
            return trial
        return Trial(case, {name: spoiled(out) if name == "litert" else out for name, out in trial.outcomes.items()})

    def spoiled(outcome: Outcome) -> Outcome:
        return replace(outcome, outputs=changed(outcome.outputs, lambda values: values * np.float32(np.nan)))

    names = ["keras-tf", "onnxruntime", "litert"]
    case = chain((2, 6), *[("Dense", {"units": 5})] * 5)
    answers = check_model(
        Bench(
            rerun(case, names),
            lambda case, routes, intermediates=False, other_memory=False: Routes()(case, routes, intermediates),
        )
    )
    assert verdicts(answers) == {"keras-tf": "agrees", "onnxruntime": "agrees", "litert": "disagrees"}
    assert answers[2].text.startswith("nonfinite: differs from keras-tf, onnxruntime: ")


def changed(outputs: Sequence[WireTensor], change: Callable[[Array], Array]) -> list[WireTensor]:
    return [wire(change(array_of(tensor))) for tensor in outputs]


class TestLarge:
    """Models above the limit, which are judged without the reference."""

    @pytest.fixture(autouse=True)
    def _everything_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*arguments: object) -> None:
            raise AssertionError("expected no run of the reference")

        monkeypatch.setattr(checking, "LARGEST_FLOPS", 0)
        monkeypatch.setattr("cometfuzz.oracles.bench.run", refuse)

    def check(self, *outcomes: Outcome) -> list[Answer]:
        return check_model(Bench(Trial(CASE, {outcome.route: outcome for outcome in outcomes}), Routes()))

    def route(self, name: str, change: Callable[[Array], Array] = lambda values: values) -> Outcome:
        return completed(name, changed(answer(CASE), change))

    def test_agreement_and_rounding(self) -> None:
        answers = self.check(self.route("keras-tf"), self.route("litert", lambda values: values * np.float32(1.0001)))
        assert (set(verdicts(answers).values()), exit_code(answers)) == ({"agrees"}, 0)

    def test_another_value(self) -> None:
        answers = self.check(self.route("keras-tf"), self.route("litert", lambda values: values * np.float32(1.01)))
        assert verdicts(answers) == {"keras-tf": "agrees", "litert": "disagrees"}
        assert answers[1].text.startswith("value: differs from keras-tf; either may be wrong: ")
        assert answers[1].difference == pytest.approx(0.01, rel=0.01)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_numbers_that_are_none(self, wrong: float) -> None:
        spoiled = self.route("litert", lambda values: np.full_like(values, wrong))
        answers = self.check(self.route("keras-tf"), self.route("openvino"), spoiled)
        assert verdicts(answers) == {"keras-tf": "agrees", "openvino": "agrees", "litert": "disagrees"}
        assert answers[2].text.startswith("nonfinite: ")
        assert answers[2].difference is None
        assert exit_code(answers) == 1

    @pytest.mark.parametrize(
        ("change", "symptom"),
        [
            (lambda values: values[:, :4], "shape"),
            (lambda values: values.reshape(5, 2), "shape"),
            (lambda values: values.astype(np.float64), "dtype"),
        ],
    )
    def test_other_types(self, change: Callable[[Array], Array], symptom: str) -> None:
        answers = self.check(self.route("keras-tf"), self.route("openvino"), self.route("litert", change))
        assert verdicts(answers)["litert"] == "disagrees"
        assert answers[2].text.startswith(f"{symptom}: ")

    def test_missing_outputs(self) -> None:
        answers = self.check(self.route("keras-tf"), self.route("openvino"), completed("litert", []))
        assert verdicts(answers) == {"keras-tf": "agrees", "openvino": "agrees", "litert": "disagrees"}
        assert "expected 1 outputs; received 0" in answers[2].text

    def test_most_libraries_are_believed_and_not_the_base(self) -> None:
        wrong = replace(self.route("keras-tf", lambda values: -values), library="tensorflow")
        same = replace(self.route("tf-graph", lambda values: -values), library="tensorflow")
        answers = self.check(wrong, same, self.route("keras-torch"), self.route("onnxruntime"))
        assert verdicts(answers) == {
            "keras-tf": "disagrees",
            "tf-graph": "disagrees",
            "keras-torch": "agrees",
            "onnxruntime": "agrees",
        }
        assert "either" not in answers[0].text

    def test_without_the_base_libraries_are_compared(self) -> None:
        failed = raised("keras-tf", "ValueError", "no")
        answers = self.check(failed, self.route("keras-torch"), self.route("onnxruntime", lambda values: -values))
        assert verdicts(answers) == {"keras-tf": "failed", "keras-torch": "agrees", "onnxruntime": "disagrees"}

    def test_one_alone_is_not_judged(self) -> None:
        answers = self.check(self.route("onnxruntime"))
        assert (verdicts(answers), exit_code(answers)) == ({"onnxruntime": "not judged"}, 3)
        assert summary(answers) == "Of 1 route: 1 not judged."
        answers = self.check(raised("keras-tf", "ValueError", "no"), self.route("onnxruntime"))
        assert (verdicts(answers), exit_code(answers)) == ({"keras-tf": "failed", "onnxruntime": "not judged"}, 3)

    def test_one_library_with_itself_proves_nothing(self) -> None:
        routes = [replace(self.route(name), library="onnxruntime") for name in ("onnxruntime", "onnxruntime-noopt")]
        answers = self.check(*routes)
        assert (set(verdicts(answers).values()), exit_code(answers)) == ({"not judged"}, 3)

    def test_all_fail(self) -> None:
        answers = self.check(raised("keras-tf", "ValueError", "no"), raised("litert", "ValueError", "no"))
        assert (set(verdicts(answers).values()), exit_code(answers)) == ({"failed"}, 1)

    def test_a_route_that_is_not_there_is_not_judged(self) -> None:
        absent = Outcome("litert", "unavailable", "convert", "litert", detail="environment main is missing")
        answers = self.check(self.route("keras-tf"), self.route("keras-torch"), absent)
        assert verdicts(answers)["litert"] == "not judged"
        assert "environment main is missing" in answers[2].text
        assert exit_code(answers) == 3

    def test_zeros_are_not_a_licence(self) -> None:
        nothing = self.route("keras-tf", np.zeros_like)
        answers = self.check(nothing, self.route("litert", lambda values: np.full_like(values, 1e-4)))
        assert verdicts(answers)["litert"] == "disagrees"
        answers = self.check(nothing, self.route("litert", lambda values: np.full_like(values, 1e-7)))
        assert verdicts(answers)["litert"] == "agrees"
