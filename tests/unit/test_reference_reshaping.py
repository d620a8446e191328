"""Reshaping, Masking and interpolation in the reference."""

import numpy as np
import pytest
from calling import mask_after, numbers, output

from cometfuzz.catalogue import spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType
from cometfuzz.reference.interpolation import weights


def test_masking_needs_all_features_of_a_step() -> None:
    x = np.array([[[0.0, 0.0], [0.0, 1.0], [0.5, 0.5]]])
    assert np.array_equal(mask_after("Masking", x), [[False, True, True]])
    assert np.array_equal(output("Masking", x), x)
    assert np.array_equal(mask_after("Masking", x, mask_value=0.5), [[True, True, False]])
    assert np.array_equal(output("Masking", x, mask_value=0.5)[0, 2], [0.0, 0.0])


def test_a_mask_survives_identity_only() -> None:
    x, mask = numbers(1, 2, 3), np.array([[True, False]])
    assert np.array_equal(mask_after("Identity", x, masks=(mask,)), mask)
    assert mask_after("Permute", x, masks=(mask,), dims=(2, 1)) is None


def test_shapes_change_row_by_row() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(output("Reshape", x, target_shape=(2, -1, 3)), x.reshape(2, 2, 2, 3))
    assert output("Flatten", x)[0].tolist() == list(range(12))
    assert output("Flatten", x, data_format="channels_first")[0].tolist() == [
        0,
        4,
        8,
        1,
        5,
        9,
        2,
        6,
        10,
        3,
        7,
        11,
    ]
    y = output("Permute", x, dims=(2, 1))
    assert all(y[b, j, i] == x[b, i, j] for b, i, j in np.ndindex(x.shape))
    y = output("RepeatVector", x[0], n=3)
    assert all(np.array_equal(y[:, i], x[0]) for i in range(3))


def test_integers_stay_integers() -> None:
    x = np.arange(6, dtype=np.int32).reshape(1, 2, 3)
    for layer in ("Flatten", "Permute", "Reshape", "Identity"):
        assert output(layer, x).dtype == np.int32


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_cropping_undoes_padding(axes: int) -> None:
    x = numbers(2, *(3, 4, 2)[:axes], 5)
    pairs = ((1, 2), (0, 3), (2, 0))[:axes]
    amounts = pairs[0] if axes == 1 else pairs
    padded = output(f"ZeroPadding{axes}D", x, padding=amounts)
    assert np.array_equal(output(f"Cropping{axes}D", padded, cropping=amounts), x)
    assert padded.sum() == pytest.approx(x.sum())
    assert not padded[:, 0].any()
    assert padded[:, 1].any()
    assert not padded[:, -2:].any()


def test_padding_knows_where_channels_are() -> None:
    y = output("ZeroPadding2D", np.ones((1, 1, 2, 3)), padding=((1, 0), (0, 2)), data_format="channels_first")
    assert y[0, 0].tolist() == [[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]


def test_nothing_may_be_cropped_away() -> None:
    spec = spec_of("Cropping1D")
    assert spec.broken_rules([TensorType("float32", (1, 2, 3))], spec.complete({})) == ["something is left"]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_up_sampling_repeats(axes: int) -> None:
    x = numbers(2, *(3, 2, 2)[:axes], 4)
    y = output(f"UpSampling{axes}D", x, size=3)
    for at in np.ndindex(y.shape[1:-1]):
        assert np.array_equal(y[(slice(None), *at)], x[(slice(None), *(i // 3 for i in at))])


def test_bilinear_by_hand() -> None:
    x = np.array([0.0, 4.0]).reshape(1, 2, 1, 1)
    y = output("UpSampling2D", x, size=(2, 1), interpolation="bilinear")
    assert y.ravel().tolist() == [0.0, 1.0, 3.0, 4.0]
    y = output(
        "UpSampling2D",
        x.reshape(1, 1, 1, 2),
        size=(1, 2),
        interpolation="bilinear",
        data_format="channels_first",
    )
    assert y.ravel().tolist() == [0.0, 1.0, 3.0, 4.0]


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "lanczos3", "lanczos5"])
def test_interpolation_keeps_constants_and_meets_its_points(method: str) -> None:
    for n, outputs, antialias in ((2, 7, False), (8, 3, False), (8, 3, True), (1, 4, True), (5, 5, False)):
        assert np.allclose(weights(n, outputs, method, antialias).sum(axis=1), 1.0)
    assert np.allclose(weights(5, 5, method, False), np.eye(5))
    # With three times the pixels, every second of three lies where an old one was.
    assert np.allclose(weights(6, 18, method, False)[1::3], np.eye(6))


def test_cubic_convolution_reproduces_a_parabola_inside() -> None:
    places = (np.arange(24) + 0.5) / 3 - 0.5
    inside = (places > 1) & (places < 6)
    assert np.allclose((weights(8, 24, "bicubic", False) @ np.arange(8.0) ** 2)[inside], places[inside] ** 2)


def test_antialiasing_averages() -> None:
    assert np.allclose(weights(4, 2, "bilinear", True)[0], np.array([0.75, 0.75, 0.25, 0.0]) / 1.75)
    assert np.allclose(weights(4, 2, "bilinear", False)[0], [0.5, 0.5, 0.0, 0.0])


def test_an_infinity_spreads_no_further_than_its_weight() -> None:
    x = np.array([1.0, 2.0, np.inf]).reshape(1, 3, 1, 1)
    y = output("UpSampling2D", x, size=(2, 1), interpolation="bilinear").ravel()
    assert np.isfinite(y[:3]).all()
    assert np.isposinf(y[3:]).all()


def test_drawn_targets_always_fit() -> None:
    spec = spec_of("Reshape")
    for index in range(200):
        draw = Draw("reshape", index)
        types = spec.inputs(draw)
        assert spec.draw_params(draw, types, tries=1) is not None, types
