"""Operators on images: conventions that documentation states, by hand."""

import numpy as np
import pytest
from calling import numbers, output

ROW = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [9, 9, 1, 2, 3, 4, 9, 9]),
        ("nearest", [1, 1, 1, 2, 3, 4, 4, 4]),
        ("wrap", [3, 4, 1, 2, 3, 4, 1, 2]),
        ("mirror", [3, 2, 1, 2, 3, 4, 3, 2]),
        ("reflect", [2, 1, 1, 2, 3, 4, 4, 3]),
    ],
)
@pytest.mark.parametrize("order", [0, 1])
def test_what_lies_beyond_the_edges(mode: str, expected: list[float], order: int) -> None:
    places = np.arange(-2.0, 6.0)[None]
    # The fill value has limits of its own; any that is none of the pixels will do.
    found = output("ops.image.map_coordinates", ROW, places, fill_mode=mode, fill_value=-1.0, order=order)
    assert found.tolist() == [-1.0 if each == 9 else each for each in expected]


def test_places_between_pixels() -> None:
    assert output("ops.image.map_coordinates", ROW, np.array([[0.25, -0.5]])).tolist() == [1.25, 0.5]


def test_a_transform_says_where_pixels_come_from() -> None:
    """x' = x + 1, y' = y: everything moves to the left."""
    image = np.arange(6.0).reshape(2, 3, 1)
    moved = output("ops.image.affine_transform", image, transform=(1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    assert moved[..., 0].tolist() == [[1, 2, 0], [4, 5, 0]]
    turned = output("ops.image.affine_transform", image, transform=(0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    assert turned[..., 0].tolist() == [[0, 3, 0], [1, 4, 0]]


def test_scaled_pixels_have_their_centres_at_halves() -> None:
    """The example of Keras' documentation."""
    image = np.arange(9.0).reshape(3, 3)
    sizes = {"output_shape": (5, 5), "scale": (2.0, 2.0), "translation": (-0.5, -0.5), "spatial_dims": (0, 1)}
    found = output("ops.image.scale_and_translate", image, **sizes)
    assert np.allclose(found[0], [0, 0.5, 1, 1.5, 2])
    assert np.allclose(found[:, 0], [0, 1.5, 3, 4.5, 6])


def test_patches_are_places_then_channels() -> None:
    image = np.arange(8.0).reshape(2, 2, 2)
    assert output("ops.image.extract_patches", image, size=(2, 2)).tolist() == [[list(range(8))]]
    first = np.moveaxis(image, -1, 0)
    channels = output("ops.image.extract_patches", first, size=(2, 2), data_format="channels_first")
    assert channels[:, 0, 0].tolist() == list(range(8))


def test_sigma_is_that_of_the_height_then_of_the_width() -> None:
    dot = np.zeros((5, 5, 1))
    dot[2, 2] = 1.0
    blurred = output("ops.image.gaussian_blur", dot, kernel_size=(5, 3), sigma=(2.0, 0.5))[..., 0]
    assert blurred[0, 2] > blurred[2, 1] > 0.0
    assert blurred[2, 0] == 0.0
    assert blurred.sum() == pytest.approx(1.0)


def test_edges_downwards_come_first() -> None:
    image = np.repeat(np.arange(4.0)[:, None], 4, axis=1)[None, :, :, None]
    assert output("ops.image.sobel_edges", image)[0, 1, 1, 0].tolist() == [8, 0]


def test_two_of_three_sizes_are_given() -> None:
    image = numbers(3, 4, 1)
    padded = output("ops.image.pad_images", image, top_padding=1, bottom_padding=None, target_height=5)
    assert np.array_equal(padded[1:4], image)
    assert padded.shape == (5, 4, 1)
    cropped = output("ops.image.crop_images", image, top_cropping=None, bottom_cropping=1, target_height=1)
    assert np.array_equal(cropped, image[1:2])


def test_colours() -> None:
    pixels = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5], [0.25, 0.5, 0.5]]])
    hsv = output("ops.image.rgb_to_hsv", pixels)
    expected = [[0, 1, 1], [1 / 3, 1, 1], [2 / 3, 1, 1], [0, 0, 0.5], [0.5, 0.5, 0.5]]
    assert np.allclose(hsv[0], expected)
    assert np.allclose(output("ops.image.hsv_to_rgb", hsv), pixels)


def test_likeness() -> None:
    image = numbers(6, 6, 2)
    assert float(output("ops.image.ssim", image, image, filter_size=3)) == pytest.approx(1.0)
    assert float(output("ops.psnr", np.array([1.0, 2.0]), np.array([1.1, 2.1]))) == pytest.approx(20.0)
