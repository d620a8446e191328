"""Operators on images."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.operators.imaging import sides
from cometfuzz.reference.call import Array, Call, Freedom, meaning
from cometfuzz.reference.convolution import convolve, windows
from cometfuzz.reference.interpolation import KERNELS, leave_interpolation, resample
from cometfuzz.reference.preprocessing import evenly_padded, largest_part


def _plain(call: Call, x: Array, axes: int = 2) -> Array:
    """`x` as a batch with its channels at the end."""
    x = x if x.ndim == axes + 2 else x[None]
    return x if call.params.data_format == "channels_last" else np.moveaxis(x, 1, -1)


def _asked(call: Call, y: Array, axes: int = 2) -> Array:
    """A batch with its channels at the end in the form of the input."""
    y = y if call.params.data_format == "channels_last" else np.moveaxis(y, -1, 1)
    return y if call.x.ndim == axes + 2 else y[0]


# -- other sizes -------------------------------------------------------------------------------------------------------


@meaning("ops.image.resize")
def resize(call: Call) -> Array:
    p, x = call.params, _plain(call, call.x)
    leave_interpolation(call, p.interpolation)
    if p.crop_to_aspect_ratio:
        x = largest_part(x, p.size)
    if p.pad_to_aspect_ratio:
        x = evenly_padded(x, p.size, p.fill_value)
    for axis, outputs in enumerate(p.size):
        x = resample(call, x, axis + 1, outputs, p.interpolation, p.antialias)
    return _asked(call, x if p.interpolation == "nearest" else call.rounded(x))


@meaning("ops.image.pad_images")
def pad_images(call: Call) -> Array:
    (top, bottom, _), (left, right, _) = sides(call.types[0], call.params, "padding")
    return _asked(call, np.pad(_plain(call, call.x), [(0, 0), (top, bottom), (left, right), (0, 0)]))


@meaning("ops.image.crop_images")
def crop_images(call: Call) -> Array:
    (top, _, height), (left, _, width) = sides(call.types[0], call.params, "cropping")
    return _asked(call, _plain(call, call.x)[:, top : top + height, left : left + width])


# -- transforms --------------------------------------------------------------------------------------------------------

_PLACES: dict[str, Callable[[Array, int], Array]] = {
    "constant": lambda index, size: np.clip(index, 0, size - 1),
    "nearest": lambda index, size: np.clip(index, 0, size - 1),
    "wrap": lambda index, size: index % size,
    "mirror": lambda index, size: (size - 1) - np.abs(index % (2 * max(1, size - 1)) - (size - 1)),
    "reflect": lambda index, size: np.minimum(index % (2 * size), 2 * size - 1 - index % (2 * size)),
}
"""Which pixel stands at a place beyond the edges."""


def _to_step(coordinates: Array) -> Array:
    """How far places are from where another pixel is the nearest one."""
    return np.asarray(np.min(0.5 - np.abs(coordinates - np.round(coordinates)), axis=0))


def _look_up(call: Call, x: Array, coordinates: Array, linear: bool) -> Array:
    """`x` at coordinates, one row of them for each of its first axes; beyond its edges, as `fill_mode` says."""
    p, nodes = call.params, []
    for row, size in zip(coordinates, x.shape, strict=False):
        low = np.floor(row) if linear else np.round(row)
        ends = [(low, 1.0 - (row - low)), (low + 1.0, row - low)] if linear else [(low, np.ones_like(low))]
        nodes.append([(np.nan_to_num(index).astype(int), size, call.rounded(weight)) for index, weight in ends])
    call.leave(Freedom.SUM)
    terms = []
    for corner in itertools.product(*nodes):
        seen = x[tuple(_PLACES[p.fill_mode](index, size) for index, size, _ in corner)]
        more = (..., *(None,) * (seen.ndim - corner[0][0].ndim))
        if p.fill_mode == "constant":
            inside = np.all([(index >= 0) & (index < size) for index, size, _ in corner], axis=0)
            seen = np.where(inside[more], seen, p.fill_value)
        weight = np.prod([weight for _, _, weight in corner], axis=0)
        terms.append(weight[more] * seen)
    return call.add_up(np.stack(terms), axis=0)


@meaning("ops.image.map_coordinates")
def map_coordinates(call: Call) -> Array:
    x, coordinates = call.inputs
    if call.params.order == 0:
        call.step(_to_step(coordinates))
    return _look_up(call, x, coordinates, call.params.order == 1)


@meaning("ops.image.affine_transform")
def affine_transform(call: Call) -> Array:
    """The pixel at column x and row y is what the input has at (a0 x + a1 y + a2, b0 x + b1 y + b2)."""
    p, images = call.params, _plain(call, call.x)
    a0, a1, a2, b0, b1, b2 = p.transform[:6]
    y, x = np.indices(images.shape[1:3]).astype(np.float64)
    coordinates = np.stack([b0 * x + b1 * y + b2, a0 * x + a1 * y + a2])
    linear = p.interpolation == "bilinear"
    if not linear:
        away = _to_step(coordinates)[None, :, :, None]
        call.step(_asked(call, np.broadcast_to(away, images.shape)))
    return _asked(call, np.moveaxis(_look_up(call, np.moveaxis(images, 0, 2), coordinates, linear), 2, 0))


SINGLE = 2.0**-24
"""Weights have the dtype of scale, which is given as float32, whatever the pixels have."""

_NAMED = {"linear": "bilinear", "cubic": "bicubic"}


@meaning("ops.image.scale_and_translate")
def scale_and_translate(call: Call) -> Array:
    """Along each axis by a kernel around the place where a pixel comes from; 0 if that is outside of the input."""
    p, x = call.params, call.x
    call.leave(Freedom.SUM)
    call.leave(Freedom.WEIGHT)
    away = np.full(p.output_shape, np.inf)
    for axis, scale, translation in zip(p.spatial_dims, p.scale, p.translation, strict=True):
        size, outputs = x.shape[axis], p.output_shape[axis]
        centres = (np.arange(outputs) + 0.5 - translation) / scale
        edge = np.minimum(np.abs(centres), np.abs(centres - size))
        away = np.minimum(away, edge.reshape([-1 if place == axis else 1 for place in range(x.ndim)]))
        moved = replace(call.judging, roundoff=SINGLE).perturb(centres)
        width = max(1.0 / scale, 1.0) if p.antialias else 1.0
        raw = KERNELS[_NAMED.get(p.method, p.method)]((np.arange(size) - (moved[:, None] - 0.5)) / width)
        total = raw.sum(axis=1, keepdims=True)
        outside = ((centres < 0) | (centres > size))[:, None]
        rows = np.where(outside | (np.abs(total) < 1e-4), 0.0, raw / np.where(total == 0, 1.0, total))
        rows = replace(call.judging, roundoff=max(SINGLE, call.judging.roundoff)).perturb(rows)
        x = np.moveaxis(call.contract("...i,oi->...o", np.moveaxis(x, axis, -1), rows), -1, axis)
    call.step(away)
    return x


# -- patches and filters -----------------------------------------------------------------------------------------------


@meaning("ops.image.extract_patches", "ops.image.extract_patches_3d")
def extract_patches(call: Call) -> Array:
    """Of each patch, place by place, all channels; a library may do it by a convolution, so NaN may come of an Inf."""
    p = call.params
    axes = len(p.size)
    call.leave(Freedom.SUM)
    seen = windows(_plain(call, call.x, axes), p.size, p.strides or p.size, (p.dilation_rate,) * axes, p.padding)
    within = np.moveaxis(seen, axes + 1, -1)  # channels behind the places of a patch
    return _asked(call, within.reshape(*seen.shape[: axes + 1], -1), axes)


def _bell(call: Call, size: int, sigma: float) -> Array:
    """A normal distribution at so many places, with a sum of 1."""
    raw = call.rounded(np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2))
    return call.rounded(raw / raw.sum())


def _filtered(call: Call, x: Array, kernel: Array, padding: str) -> Array:
    """Each channel of a batch convolved with a kernel (height, width)."""
    planes = np.moveaxis(x, -1, 1).reshape(-1, *x.shape[1:3], 1)
    y = convolve(call, planes, kernel[:, :, None, None], (1, 1), (1, 1), padding)
    return np.moveaxis(y.reshape(x.shape[0], x.shape[-1], *y.shape[1:3]), 1, -1)


@meaning("ops.image.gaussian_blur")
def gaussian_blur(call: Call) -> Array:
    p = call.params
    height, width = (_bell(call, size, sigma) for size, sigma in zip(p.kernel_size, p.sigma, strict=True))
    return _asked(call, _filtered(call, _plain(call, call.x), call.rounded(np.outer(height, width)), "same"))


@meaning("ops.image.sobel_edges")
def sobel_edges(call: Call) -> Array:
    down = np.array([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    x = _plain(call, call.x)
    inner = np.zeros(x.shape)
    inner[:, 1:-1, 1:-1] = np.inf
    edges = [_asked(call, _filtered(call, x, kernel, "same")) for kernel in (down, down.T)]
    call.step(np.stack([_asked(call, inner)] * 2, axis=-1))
    return np.stack(edges, axis=-1)


# -- colours -----------------------------------------------------------------------------------------------------------

_GREY = (0.2989, 0.5870, 0.1140)


@meaning("ops.image.rgb_to_grayscale")
def rgb_to_grayscale(call: Call) -> Array:
    x = _plain(call, call.x)
    return (
        call.x
        if x.shape[-1] == 1
        else _asked(call, call.contract("...c,cg->...g", x, call.rounded(np.array([_GREY]).T)))
    )


def _judged(call: Call, x: Array, away: Array) -> None:
    """Declare that only pixels from 0 to 1 are evidence, and those not that are near a jump."""
    inside = ((x >= 0.0) & (x <= 1.0)).all(axis=-1, keepdims=True)
    call.step(_asked(call, np.where(inside, away, 0.0)))


@meaning("ops.image.rgb_to_hsv")
def rgb_to_hsv(call: Call) -> Array:
    """Hue is a sixth of the way around for each side of the hexagon; it jumps at red, and where there is no colour."""
    x = _plain(call, call.x)
    red, green, blue = np.moveaxis(x, -1, 0)
    value = x.max(axis=-1)
    spread = value - x.min(axis=-1)
    part = call.rounded(1.0 / np.where(spread > 0, spread, 1.0))
    sides_of = [call.rounded(call.rounded(a - b) * part) for a, b in ((green, blue), (blue, red), (red, green))]
    turn = np.select([value == red, value == green], [sides_of[0], 2.0 + sides_of[1]], 4.0 + sides_of[2])
    hue = np.where(spread > 0, call.rounded(turn / 6.0) % 1.0, 0.0)
    saturation = np.where(value > 0, spread / np.where(value > 0, value, 1.0), 0.0)
    _judged(
        call, x, np.stack([np.minimum(hue, 1.0 - hue), np.full_like(hue, np.inf), np.full_like(hue, np.inf)], axis=-1)
    )
    return _asked(call, np.stack([hue, saturation, value], axis=-1))


@meaning("ops.image.hsv_to_rgb")
def hsv_to_rgb(call: Call) -> Array:
    x = _plain(call, call.x)
    hue, saturation, value = np.moveaxis(x, -1, 0)
    turn = call.rounded(hue % 1.0 * 6.0)
    shares = (np.abs(turn - 3.0) - 1.0, 2.0 - np.abs(turn - 2.0), 2.0 - np.abs(turn - 4.0))
    colours = [value * call.rounded(1.0 - saturation * (1.0 - np.clip(share, 0.0, 1.0))) for share in shares]
    _judged(call, x, np.full(x.shape, np.inf))
    return _asked(call, np.stack(colours, axis=-1))


# -- likeness ----------------------------------------------------------------------------------------------------------


@meaning("ops.psnr")
def psnr(call: Call) -> Array:
    first, second = call.inputs
    error = call.rounded(call.add_up(call.rounded(call.rounded(first - second) ** 2)) / first.size)
    return call.rounded(20.0 * np.log10(call.params.max_val)) - call.rounded(10.0 * np.log10(error))


@meaning("ops.image.ssim")
def ssim(call: Call) -> Array:
    """The mean of the likeness in light, contrast and structure, in windows weighted by a normal distribution."""
    p = call.params
    bell = _bell(call, p.filter_size, p.filter_sigma)
    kernel = call.rounded(np.outer(bell, bell))
    a, b = (_plain(call, x) for x in call.inputs)
    light_a, light_b = (_filtered(call, x, kernel, "valid") for x in (a, b))
    square_a, square_b, both = (
        call.rounded(_filtered(call, call.rounded(x * y), kernel, "valid") - call.rounded(m * n))
        for x, y, m, n in ((a, a, light_a, light_a), (b, b, light_b, light_b), (a, b, light_a, light_b))
    )
    c1, c2 = (p.k1 * p.max_val) ** 2, (p.k2 * p.max_val) ** 2
    above = call.rounded(call.rounded(2.0 * light_a * light_b + c1) * call.rounded(2.0 * both + c2))
    below = call.rounded(call.rounded(light_a**2 + light_b**2 + c1) * call.rounded(square_a + square_b + c2))
    ratio = call.rounded(above / below)
    mean = call.add_up(ratio, axis=(1, 2, 3)) / (ratio.size // max(1, len(ratio)))
    return mean if call.x.ndim == 4 else np.asarray(mean[0])
