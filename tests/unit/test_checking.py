"""The answer of `cometfuzz check`: which routes a model survives."""

import pytest
from trials import Routes, chain, raised

from cometfuzz.execution.outcome import Trial
from cometfuzz.oracles import checking
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.checking import check_model

CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}))
ROUTES = ("keras-tf", "onnxruntime")


def test_routes_that_agree_and_routes_that_do_not() -> None:
    assert [answer.ok for answer in check_model(Bench(Routes()(CASE, ROUTES), Routes()))] == [True, True]
    off = Routes(onnxruntime=lambda layer, value: value * 1.01 if layer == "ReLU" else value)
    good, bad = check_model(Bench(off(CASE, ROUTES), off))
    assert good.ok
    assert not bad.ok
    assert bad.text.startswith("value: ReLU")
    assert bad.difference is not None
    assert 0.005 < bad.difference < 0.02


def test_a_route_that_fails_does_not_agree() -> None:
    trial = Trial(CASE, {**Routes()(CASE, ["keras-tf"]).outcomes, "litert": raised("litert", "ValueError", "no")})
    assert [(answer.route, answer.ok) for answer in check_model(Bench(trial, Routes()))] == [
        ("keras-tf", True),
        ("litert", False),
    ]


def test_a_large_model_is_held_against_the_base_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "LARGEST_FLOPS", 0)
    off = Routes(onnxruntime=lambda layer, value: value * 1.01 if layer == "ReLU" else value)
    answers = check_model(Bench(off(CASE, ROUTES), off))
    assert [answer.text for answer in answers] == ["agrees", "another answer than Keras on TensorFlow"]
