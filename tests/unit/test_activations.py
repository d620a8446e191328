"""Activations against values worked out by hand."""

import math

import numpy as np
import pytest

from cometfuzz.catalogue.spaces import ACTIVATION_NAMES
from cometfuzz.reference.activation import ACTIVATIONS, erfc


def at(name: str, *values: float) -> list[float]:
    return list(ACTIVATIONS[name](np.array([values], dtype=np.float64), lambda x: x)[0])


def test_every_named_activation_has_a_meaning() -> None:
    assert set(ACTIVATIONS) == set(ACTIVATION_NAMES)


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("relu6", 7.0, 6.0),
        ("sigmoid", 0.0, 0.5),
        ("elu", -1.0, math.exp(-1) - 1),
        ("selu", 1.0, 1.0507009873554805),
        ("selu", -1.0, 1.0507009873554805 * 1.6732632423543772 * (math.exp(-1) - 1)),
        ("softplus", 0.0, math.log(2)),
        ("softplus", 800.0, 800.0),
        ("softsign", -3.0, -0.75),
        ("hard_sigmoid", 1.0, 1 / 6 + 0.5),
        ("hard_silu", -1.0, -1 * 2 / 6),
        ("hard_tanh", 1.5, 1.0),
        ("hard_shrink", 0.5, 0.0),
        ("hard_shrink", 0.75, 0.75),
        ("soft_shrink", -0.75, -0.25),
        ("tanh_shrink", 1.0, 1 - math.tanh(1)),
        ("squareplus", 0.0, 1.0),
        ("celu", -2.0, math.exp(-2) - 1),
        ("gelu", -1.0, -0.15865525393145707),
        ("leaky_relu", -1.0, -0.2),
        ("log_sigmoid", 0.0, -math.log(2)),
        ("mish", 1.0, math.tanh(math.log(1 + math.e))),
        ("silu", 1.0, 1 / (1 + math.exp(-1))),
        ("sparse_plus", 0.0, 0.25),
        ("sparse_plus", -1.5, 0.0),
        ("sparse_sigmoid", 0.5, 0.75),
        ("exponential", 1.0, math.e),
    ],
)
def test_values_by_hand(name: str, x: float, y: float) -> None:
    assert at(name, x)[0] == pytest.approx(y, rel=1e-12, abs=1e-15)


def test_softmax_and_its_relatives() -> None:
    assert sum(at("softmax", 1, 2, 3)) == pytest.approx(1)
    assert at("log_softmax", 1, 2, 3) == pytest.approx([math.log(p) for p in at("softmax", 1, 2, 3)])
    assert at("softmax", 1000, 1000) == pytest.approx([0.5, 0.5])
    assert at("glu", 2, 4, 0, 0) == pytest.approx([1, 2])


def test_erfc_is_the_standard_librarys() -> None:
    points = np.concatenate([np.linspace(-6, 12, 4001), [2.0, -2.0, 0.0]])
    expected = np.array([math.erfc(point) for point in points])
    np.testing.assert_allclose(erfc(points), expected, rtol=1e-13)
    with np.errstate(all="ignore"):
        assert erfc(np.array([np.inf, -np.inf])).tolist() == [0.0, 2.0]
        assert np.isnan(erfc(np.array([np.nan]))).all()


def test_sparsemax_is_the_projection_onto_the_simplex() -> None:
    assert at("sparsemax", 0.1, 0.2, 0.3) == pytest.approx([0.1 + 0.4 / 3, 0.2 + 0.4 / 3, 0.3 + 0.4 / 3])
    assert at("sparsemax", 5, 0, 0) == pytest.approx([1, 0, 0])
    point = np.array(at("sparsemax", 0.5, -0.2, 0.9, 0.4))
    nearest = min(
        (np.sum((np.array([a, b, c, 1 - a - b - c]) - [0.5, -0.2, 0.9, 0.4]) ** 2), (a, b, c))
        for a in np.linspace(0, 1, 21)
        for b in np.linspace(0, 1 - a, 21)
        for c in np.linspace(0, 1 - a - b, 21)
    )
    assert np.sum((point - [0.5, -0.2, 0.9, 0.4]) ** 2) <= nearest[0] + 1e-9
