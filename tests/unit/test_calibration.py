"""How far clean runs stray, and what is claimed of them."""

import numpy as np
from trials import Routes, chain

from cometfuzz.catalogue.data import Array
from cometfuzz.execution.versions import usual_view
from cometfuzz.oracles.calibration import Calibration
from cometfuzz.oracles.contradiction import Answers, distance

ROUTES = ["keras-tf", "keras-torch", "onnxruntime"]
CASE = chain((3, 4), ("Activation", {"activation": "tanh"}), ("LayerNormalization", {}))


def measured(routes: Routes) -> dict[str, object]:
    calibration = Calibration()
    calibration.add(CASE, ROUTES, routes, usual_view())
    return calibration.as_plain()


def test_clean_runs_are_within_every_bound_and_nobody_claims_anything() -> None:
    result = measured(Routes())
    assert result["beyond"] == result["beyond_digits"] == 0
    assert result["nodes"] == 2 * len(ROUTES)
    assert result["claims"] == {"uninitialised": 0, "special": 0, "accuracy": 0, "relation": 0}
    relations = result["relations"]
    assert isinstance(relations, dict)
    assert set(relations) == set(ROUTES)
    assert all(measures["float32"]["largest"] <= 1.0 for measures in relations.values())


def test_what_is_wrong_is_measured_and_claimed() -> None:
    def wrong(layer: str, value: Array) -> Array:
        return value * np.float32(1.01) if layer == "Activation" else value

    result = measured(Routes(keras_torch=wrong))
    claims = result["claims"]
    assert isinstance(claims, dict)
    assert (result["beyond"], claims["value"], claims["accuracy"]) == (1, 1, 0)


def test_answers_are_apart_in_units_of_what_is_allowed() -> None:
    answers = Answers(CASE)
    edge = CASE.graph.outputs[0]
    one = answers.expected[edge].value.astype(np.float32)
    assert distance(answers, edge, np.s_[::-1], one, one[::-1]) == 0.0
    other = one + np.float32(3) * answers.bound(edge).max().astype(np.float32)
    assert 1.0 < distance(answers, edge, ..., one, other) < 10.0
