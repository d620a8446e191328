"""Pooling layers."""

import math
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cometfuzz.reference.call import Array, Call, Freedom, meaning

_KINDS = ("1D", "2D", "3D")


def channels_last(call: Call, x: Array) -> Array:
    """`x` with its channels at the end, whatever the layer's data_format says."""
    return x if call.params.data_format == "channels_last" else np.moveaxis(x, 1, -1)


def as_asked(call: Call, x: Array) -> Array:
    """`x`, whose channels are at the end, in the layer's data_format."""
    return x if call.params.data_format == "channels_last" else np.moveaxis(x, -1, 1)


def lowest(x: Array) -> float:
    """What never wins a maximum."""
    return -np.inf if x.dtype.kind == "f" else int(np.iinfo(x.dtype).min)


def windows(call: Call, x: Array, fill: float) -> Array:
    """The layer's windows over the spatial axes of `x`, flattened into a last axis; borders hold `fill`."""
    p = call.params
    size, strides = p.pool_size, p.strides or p.pool_size
    if 0 in x.shape[1:-1]:  # only "same" gets here, with no place for a window along the empty axis
        return np.zeros(
            (x.shape[0], *(-(-n // s) for n, s in zip(x.shape[1:-1], strides, strict=True)), x.shape[-1], 1)
        )
    if p.padding == "same":
        borders = []
        for n, k, s in zip(x.shape[1:-1], size, strides, strict=True):
            missing = max((-(-n // s) - 1) * s + k - n, 0)
            borders.append((missing // 2, missing - missing // 2))
        x = np.pad(x, [(0, 0), *borders, (0, 0)], constant_values=fill)
    every = sliding_window_view(x, size, axis=tuple(range(1, x.ndim - 1)))
    every = every[(slice(None), *(slice(None, None, s) for s in strides))]
    return every.reshape(*every.shape[: x.ndim], math.prod(size))


@meaning(*(f"MaxPooling{kind}" for kind in _KINDS))
def max_pooling(call: Call) -> Array:
    x = channels_last(call, call.x)
    return as_asked(call, windows(call, x, lowest(x)).max(axis=-1))


@meaning(*(f"AveragePooling{kind}" for kind in _KINDS))
def average_pooling(call: Call) -> Array:
    x = channels_last(call, call.x)
    terms, counted = windows(call, x, 0.0), windows(call, np.ones_like(x), 0.0)
    return as_asked(call, add_up(call, terms, -1) / counted.sum(axis=-1))


@meaning(*(f"GlobalMaxPooling{kind}" for kind in _KINDS))
def global_max_pooling(call: Call) -> Array:
    return over_everything(call, lambda x, axes: x.max(axis=axes, keepdims=True))


@meaning(*(f"GlobalAveragePooling{kind}" for kind in _KINDS))
def global_average_pooling(call: Call) -> Array:
    if call.mask is None:
        count = math.prod(channels_last(call, call.x).shape[1:-1])
        return over_everything(call, lambda x, axes: add_up(call, x, axes) / np.float64(count))
    kept = call.mask[..., None]
    count = kept.sum(axis=1, keepdims=True)
    return over_everything(call, lambda x, axes: add_up(call, np.where(kept, x, 0.0), axes) / count)


def over_everything(call: Call, reduce: Callable[[Array, tuple[int, ...]], Array]) -> Array:
    """`reduce` over all spatial axes; it keeps them with size 1, and the layer drops them unless told otherwise."""
    x = channels_last(call, call.x)
    axes = tuple(range(1, x.ndim - 1))
    result = reduce(x, axes)
    return as_asked(call, result) if call.params.keepdims else np.squeeze(result, axes)


def add_up(call: Call, terms: Array, axes: int | tuple[int, ...]) -> Array:
    """A sum that a library rounds; how large its absolute terms get goes into the peak."""
    keep = isinstance(axes, tuple)
    call.leave(Freedom.SUM)
    call.judging.note(np.abs(terms).sum(axis=axes, keepdims=keep))
    return call.judging.perturb(terms.sum(axis=axes, keepdims=keep))


@meaning(*(f"AdaptiveMaxPooling{kind}" for kind in _KINDS))
def adaptive_max_pooling(call: Call) -> Array:
    return adaptively(call, lambda x, axis: x.max(axis=axis))


@meaning(*(f"AdaptiveAveragePooling{kind}" for kind in _KINDS))
def adaptive_average_pooling(call: Call) -> Array:
    call.leave(Freedom.SUM)
    return call.rounded(adaptively(call, lambda x, axis: x.mean(axis=axis)))


def adaptively(call: Call, reduce: Callable[[Array, int], Array]) -> Array:
    """Window i of an axis reaches from floor(i n / outputs) to ceil((i + 1) n / outputs)."""
    x = channels_last(call, call.x)
    for axis, outputs in enumerate(call.params.output_size, start=1):
        n = x.shape[axis]
        parts = ((i * n // outputs, -(-(i + 1) * n // outputs)) for i in range(outputs))
        x = np.stack([reduce(x[(slice(None),) * axis + (slice(*part),)], axis) for part in parts], axis=axis)
    return as_asked(call, x)
