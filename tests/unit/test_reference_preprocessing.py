"""Preprocessing in the reference: numbers, images and tokens."""

import numpy as np
import pytest
from calling import mask_after, numbers, output

from cometfuzz.catalogue import LAYERS, spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType


def test_rescaling() -> None:
    x = numbers(2, 3)
    assert np.allclose(output("Rescaling", x, scale=2.0, offset=-1.0), 2 * x - 1)
    assert output("Rescaling", np.array([[2, 3]], np.int32), scale=0.5).tolist() == [[1.0, 1.5]]


def test_normalization_along_each_axis() -> None:
    x, mean, variance = numbers(2, 3, 4), (1.0, 2.0, 3.0), (4.0, 1.0, 0.25)
    y = output("Normalization", x, axis=1, mean=mean, variance=variance)
    for b, i, j in np.ndindex(x.shape):
        assert y[b, i, j] == pytest.approx((x[b, i, j] - mean[i]) / variance[i] ** 0.5)
    assert np.allclose(output("Normalization", y, axis=1, mean=mean, variance=variance, invert=True), x)
    assert np.allclose(output("Normalization", x, axis=None, mean=1.0, variance=4.0), (x - 1) / 2)
    both = output("Normalization", x, axis=(1, -1), mean=(1.0, 0.0, 2.0, 5.0), variance=(1.0, 4.0, 1.0, 1.0))
    assert np.allclose(both, (x - [1.0, 0.0, 2.0, 5.0]) / [1.0, 2.0, 1.0, 1.0])


def test_statistics_must_fit() -> None:
    spec, x = spec_of("Normalization"), [TensorType("float32", (2, 3, 4))]
    wrong = [
        {"mean": (1.0, 2.0, 3.0), "variance": (1.0, 1.0, 1.0)},
        {"mean": (1.0, 2.0, 3.0, 4.0)},
        {"axis": None, "mean": (1.0,), "variance": (1.0,)},
    ]
    for params in wrong:
        assert spec.broken_rules(x, spec.complete(params)) == ["mean and variance fit the last kept axis"]
    assert spec.broken_rules([TensorType("float32", (2, 3))], spec.complete({"axis": (1, -1)})) == [
        "axes exist and differ"
    ]


def test_nearest_pixels() -> None:
    x = np.arange(5.0).reshape(1, 5, 1, 1)
    assert output("Resizing", x, height=3, width=1, interpolation="nearest").ravel().tolist() == [
        0.0,
        2.0,
        4.0,
    ]
    assert output("Resizing", x, height=8, width=1, interpolation="nearest").ravel().tolist() == [
        0,
        0,
        1,
        2,
        2,
        3,
        4,
        4,
    ]


def test_cropping_to_the_aspect_ratio() -> None:
    x = numbers(2, 3, 8, 2)
    y = output("Resizing", x, height=3, width=4, crop_to_aspect_ratio=True)
    assert np.allclose(y, x[:, :, 2:6])


def test_padding_to_the_aspect_ratio() -> None:
    x = numbers(2, 2, 6, 3)
    arguments = {"height": 6, "width": 6, "pad_to_aspect_ratio": True, "fill_value": 0.5}
    y = output("Resizing", x, **arguments)
    assert np.allclose(y[:, 2:4], x)
    assert (y[:, :2] == 0.5).all()
    assert (y[:, 4:] == 0.5).all()
    first = output("Resizing", np.moveaxis(x, -1, 1), data_format="channels_first", **arguments)
    assert np.array_equal(np.moveaxis(first, 1, -1), y)


def test_central_part() -> None:
    x = numbers(1, 6, 5, 2)
    assert np.array_equal(output("CenterCrop", x, height=3, width=2), x[:, 1:4, 1:3])
    # Too small in one direction: the largest part of the same aspect ratio, enlarged.
    y = output("CenterCrop", x, height=8, width=4)
    assert np.allclose(y, output("Resizing", x[:, :, 1:4], height=8, width=4))


def test_embedding_looks_rows_up() -> None:
    tokens, rows = np.array([[3, 0, 99]], np.int32), numbers(100, 4)
    y = output("Embedding", tokens, weights={"embeddings": rows}, input_dim=100, output_dim=4)
    assert np.array_equal(y[0], rows[[3, 0, 99]])
    mask = mask_after("Embedding", tokens, weights={"embeddings": rows}, input_dim=100, output_dim=4, mask_zero=True)
    assert np.array_equal(mask, [[True, False, True]])


def test_tokens_must_be_known() -> None:
    spec, rule = spec_of("Embedding"), ["tokens are below input_dim"]
    assert spec.broken_rules([TensorType("int32", (2, 3), high=5)], spec.complete({"input_dim": 4})) == rule
    assert spec.broken_rules([TensorType("int32", (2, 3))], spec.complete({"input_dim": 4})) == rule
    assert not spec.broken_rules([TensorType("int32", (2, 3), high=4)], spec.complete({"input_dim": 4}))


def test_embedding_in_reverse() -> None:
    rows, back, vectors = numbers(7, 4), numbers(4, 7, start=1.0), numbers(2, 3, 4)
    arguments = {"input_dim": 7, "output_dim": 4, "reverse": True, "dtype": "float64"}
    y = output("ReversibleEmbedding", vectors, weights={"embeddings": rows}, **arguments)
    assert np.allclose(y, np.einsum("bse,te->bst", vectors, rows))
    both = {"embeddings": rows, "reverse_embeddings": back}
    y = output("ReversibleEmbedding", vectors, weights=both, tie_weights=False, logit_soft_cap=2.0, **arguments)
    assert np.allclose(y, 2 * np.tanh(vectors @ back / 2))


def test_categories() -> None:
    tokens = np.array([[0, 2, 2], [1, 1, 1]], np.int32)
    hot = output("CategoryEncoding", tokens, num_tokens=100)
    assert hot[0, :4].tolist() == [1, 0, 1, 0]
    assert hot[1, :4].tolist() == [0, 1, 0, 0]
    count = output("CategoryEncoding", tokens, num_tokens=100, output_mode="count")
    assert count[:, :4].tolist() == [[1, 0, 2, 0], [0, 3, 0, 0]]
    each = output("CategoryEncoding", tokens, num_tokens=100, output_mode="one_hot")
    assert np.array_equal(each.argmax(axis=-1), tokens)
    assert output("CategoryEncoding", tokens[:, :1], num_tokens=100, output_mode="one_hot").shape == (2, 100)


@pytest.mark.parametrize("layer", ["Embedding", "ReversibleEmbedding", "CategoryEncoding", "Normalization"])
def test_draws_fit_at_once(layer: str) -> None:
    spec, failures = spec_of(layer), 0
    for index in range(200):
        draw = Draw(layer, index)
        failures += spec.draw_params(draw, spec.inputs(draw), tries=1) is None
    assert failures <= 50


def test_random_crop_is_the_largest_part_in_inference() -> None:
    x = numbers(2, 4, 6, 3)
    assert np.array_equal(output("RandomCrop", x, height=4, width=6), x)
    assert np.allclose(output("RandomCrop", x, height=4, width=2), x[:, :, 2:4])
    part = output("Resizing", x[:, :, 1:5], height=2, width=2)
    assert np.allclose(output("RandomCrop", x, height=2, width=2), part)


def test_auto_contrast_fills_the_range() -> None:
    x = numbers(2, 3, 4, 2)
    x[1, :, :, 0] = 0.25
    y = output("AutoContrast", x, value_range=(-1, 1))
    for image, channel in [(0, 0), (0, 1), (1, 1)]:
        seen = x[image, :, :, channel]
        expected = -1 + 2 * (seen - seen.min()) / (seen.max() - seen.min())
        assert np.allclose(y[image, :, :, channel], expected)
    assert np.array_equal(y[1, :, :, 0], x[1, :, :, 0])


def test_augmentations_hand_their_images_on() -> None:
    x = numbers(2, 3, 4, 3)
    names = [name for name, spec in LAYERS.items() if spec.family == "augmentation"]
    assert len(names) == 25
    assert all(LAYERS[name].identity and np.array_equal(output(name, x), x) for name in names)
