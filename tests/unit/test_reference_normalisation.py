"""Normalisation in the reference, against loops and identities."""

import itertools
from typing import Any

import numpy as np
import pytest
from calling import Array, numbers, output


def test_batch_normalization_uses_the_moving_statistics_of_each_channel() -> None:
    x = numbers(2, 3, 4)
    weights = {
        "gamma": np.array([1.0, 2.0, 3.0]),
        "beta": np.array([0.5, 0.0, -1.0]),
        "moving_mean": np.array([0.1, 0.2, 0.3]),
        "moving_variance": np.array([1.0, 4.0, 0.25]),
    }
    y = output("BatchNormalization", x, weights=weights, axis=-2, epsilon=0.5)
    for b, c, f in np.ndindex(x.shape):
        gamma, beta, mean, variance = (weights[name][c] for name in weights)
        assert y[b, c, f] == pytest.approx(gamma * (x[b, c, f] - mean) / (variance + 0.5) ** 0.5 + beta)


def test_axis_from_either_end_is_the_same() -> None:
    x, weights = numbers(2, 3, 4), {"moving_mean": numbers(3), "moving_variance": 1.0 + numbers(3) ** 2}
    plain: dict[str, Any] = {"weights": weights, "center": False, "scale": False}
    assert np.array_equal(
        output("BatchNormalization", x, axis=1, **plain), output("BatchNormalization", x, axis=-2, **plain)
    )


@pytest.mark.parametrize("axis", [-1, -2, 1, (-2, -1), (1, 3), (1, 2, 3)])
def test_layer_normalization_over_any_axes(axis: int | tuple[int, ...]) -> None:
    x = numbers(2, 3, 4, 5)
    axes = tuple(sorted(a % 4 for a in (axis if isinstance(axis, tuple) else (axis,))))
    shape = tuple(x.shape[a] for a in axes)
    weights = {"gamma": numbers(*shape, start=1.0), "beta": numbers(*shape, start=2.0)}
    y = output("LayerNormalization", x, weights=weights, axis=axis, epsilon=0.1)
    others = [range(x.shape[a]) if a not in axes else [slice(None)] for a in range(4)]
    for place in itertools.product(*others):
        part = x[place]
        expected = (part - part.mean()) / np.sqrt(part.var() + 0.1) * weights["gamma"] + weights["beta"]
        assert np.allclose(y[place], expected)


def _affine(size: int) -> dict[str, Array]:
    return {"gamma": numbers(size, start=1.0), "beta": numbers(size, start=2.0)}


def test_group_normalization_by_loops() -> None:
    x, weights = numbers(2, 6, 3), _affine(6)
    y = output("GroupNormalization", x, weights=weights, axis=1, groups=2, epsilon=0.01)
    for b, group in np.ndindex(2, 2):
        part = x[b, group * 3 : group * 3 + 3]
        expected = (part - part.mean()) / np.sqrt(part.var() + 0.01)
        for c in range(3):
            channel = group * 3 + c
            assert np.allclose(y[b, channel], expected[c] * weights["gamma"][channel] + weights["beta"][channel])


def test_one_group_for_each_channel_is_minus_one() -> None:
    x, weights = numbers(2, 5, 4), _affine(4)
    each = output("GroupNormalization", x, weights=weights, groups=-1)
    assert np.array_equal(each, output("GroupNormalization", x, weights=weights, groups=4))
    assert not np.allclose(each, output("GroupNormalization", x, weights=weights, groups=2))


def test_rms_normalization_scales_by_the_root_of_the_mean_square() -> None:
    x = np.array([[3.0, 4.0], [0.0, 2.0]])
    y = output("RMSNormalization", x, weights={"scale": np.array([1.0, 10.0])}, epsilon=0.5)
    assert np.allclose(y, [[3 / 13**0.5, 40 / 13**0.5], [0.0, 20 / 2.5**0.5]])


def test_rms_scale_lies_along_its_axis() -> None:
    x, scale = numbers(2, 3, 3), np.array([1.0, 10.0, 100.0])
    y = output("RMSNormalization", x, weights={"scale": scale}, axis=1)
    plain = output("RMSNormalization", x, weights={"scale": np.ones(3)}, axis=1)
    assert np.allclose(y[:, 1], 10.0 * plain[:, 1])


def test_unit_normalization_makes_length_one_and_leaves_zero() -> None:
    x = numbers(2, 3, 4)
    x[1] = 0.0
    y = output("UnitNormalization", x, axis=(1, 2))
    assert np.square(y[0]).sum() == pytest.approx(1.0)
    assert np.allclose(y[0] * np.linalg.norm(x[0]), x[0])
    assert not y[1].any()


def test_empty_axes_are_no_trouble() -> None:
    y = output("LayerNormalization", np.zeros((2, 0)), center=False, scale=False)
    assert y.shape == (2, 0)
