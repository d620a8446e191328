"""Preprocessing layers."""

import numpy as np

from cometfuzz.catalogue.preprocessing import kept_axes
from cometfuzz.reference.call import Array, Call, Freedom, Mask, mask_of, meaning
from cometfuzz.reference.interpolation import leave_interpolation, resample
from cometfuzz.reference.pooling import as_asked, channels_last


@meaning("Rescaling")
def rescaling(call: Call) -> Array:
    p = call.params
    return call.rounded(call.x * call.rounded(np.asarray(p.scale))) + call.rounded(np.asarray(p.offset))


@meaning("Normalization")
def normalization(call: Call) -> Array:
    p, shape = call.params, [1] * call.x.ndim
    if isinstance(p.mean, tuple):
        shape[kept_axes(call.x.ndim, p.axis)[-1]] = len(p.mean)
    mean = call.rounded(np.reshape(p.mean, shape))
    deviation = call.rounded(np.sqrt(call.rounded(np.reshape(p.variance, shape))))
    return call.rounded(call.x * deviation) + mean if p.invert else call.rounded(call.x - mean) / deviation


def matching(x: Array, target: tuple[int, int]) -> tuple[int, int]:
    """The height that goes with the images' width in the target's aspect ratio, and the width with their height."""
    return x.shape[2] * target[0] // target[1], x.shape[1] * target[1] // target[0]


def largest_part(x: Array, target: tuple[int, int]) -> Array:
    """The largest central part of images that has the target's aspect ratio, and at least one pixel."""
    sizes = x.shape[1:3]
    parts = [max(min(n, part), 1) for n, part in zip(sizes, matching(x, target), strict=True)]
    starts = [(n - part) // 2 for n, part in zip(sizes, parts, strict=True)]
    return x[:, starts[0] : starts[0] + parts[0], starts[1] : starts[1] + parts[1]]


def evenly_padded(x: Array, target: tuple[int, int], value: float) -> Array:
    """Images with as much on either side as brings them near the target's aspect ratio."""
    sizes = x.shape[1:3]
    sides = [max(whole - n, 0) // 2 for n, whole in zip(sizes, matching(x, target), strict=True)]
    return np.pad(x, [(0, 0), *((side, side) for side in sides), (0, 0)], constant_values=value)


def resized(call: Call, x: Array, method: str, antialias: bool = False) -> Array:
    for axis, outputs in ((1, call.params.height), (2, call.params.width)):
        x = resample(call, x, axis, outputs, method, antialias)
    return x if method == "nearest" else call.rounded(x)


@meaning("Resizing")
def resizing(call: Call) -> Array:
    p, x = call.params, channels_last(call, call.x)
    leave_interpolation(call, p.interpolation)
    if p.crop_to_aspect_ratio:
        x = largest_part(x, (p.height, p.width))
    if p.pad_to_aspect_ratio:
        x = evenly_padded(x, (p.height, p.width), p.fill_value)
    return as_asked(call, resized(call, x, p.interpolation, p.antialias))


@meaning("CenterCrop")
def center_crop(call: Call) -> Array:
    p, x = call.params, channels_last(call, call.x)
    leave_interpolation(call, "bilinear")
    top, left = x.shape[1] - p.height, x.shape[2] - p.width
    if top < 0 or left < 0:
        return as_asked(call, resized(call, largest_part(x, (p.height, p.width)), "bilinear"))
    return as_asked(call, x[:, top // 2 : top // 2 + p.height, left // 2 : left // 2 + p.width])


@meaning("RandomCrop")
def random_crop(call: Call) -> Array:
    p, x = call.params, channels_last(call, call.x)
    leave_interpolation(call, "bilinear")
    return as_asked(call, resized(call, largest_part(x, (p.height, p.width)), "bilinear"))


@meaning("AutoContrast")
def auto_contrast(call: Call) -> Array:
    """Rounded as a library may do it: values from 0 to 255, a factor, a sum, and back."""
    bottom, top = call.params.value_range
    call.leave(Freedom.COMPARISON)
    x = call.rounded(call.rounded(call.rounded(call.x - bottom) / (top - bottom)) * 255.0)
    low, high = (of(x, axis=(1, 2), keepdims=True) for of in (np.min, np.max))
    factor = call.rounded(255.0 / call.rounded(high - low))
    y = np.clip(call.rounded(call.rounded(x * factor) + call.rounded(-low * factor)), 0.0, 255.0)
    y = call.rounded(call.rounded(y / 255.0) * (top - bottom)) + bottom
    return np.where(np.isnan(y), call.x, y)


@mask_of("Embedding", "ReversibleEmbedding")
def not_zero(call: Call) -> Mask:
    return np.asarray(call.x != 0)


def rows(call: Call) -> Array:
    """One row of the embeddings for each token."""
    return call.weights["embeddings"][call.x]


meaning("Embedding")(rows)


@meaning("ReversibleEmbedding")
def reversible_embedding(call: Call) -> Array:
    p = call.params
    if not p.reverse:
        return rows(call)
    kernel = call.weights["embeddings"].T if p.tie_weights else call.weights["reverse_embeddings"]
    logits = call.contract("...i,ij->...j", call.x, kernel, strict=True)
    cap = p.logit_soft_cap
    return logits if cap is None else call.rounded(np.tanh(call.rounded(logits / cap))) * cap


@meaning("CategoryEncoding")
def category_encoding(call: Call) -> Array:
    p = call.params
    hot: Array = (call.x[..., None] == np.arange(p.num_tokens)).astype(np.float64)
    if p.output_mode == "one_hot":
        return hot.reshape(call.outputs[0].shape)
    return np.asarray(hot.sum(axis=-2) if p.output_mode == "count" else hot.max(axis=-2, initial=0.0))
