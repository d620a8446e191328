"""Operators that make one element of many along axes, or of all that come before it."""

import math
from typing import Any

import numpy as np

from cometfuzz.reference.call import FEW, Array, Call, Freedom, meaning


def _axis(call: Call) -> dict[str, Any]:
    return {"axis": call.params.axis, "keepdims": call.params.get("keepdims", False)}


def _without_nan(call: Call, instead: float) -> Array:
    """The input, with a number that changes nothing in the place of NaN where the operator's name asks for it."""
    return np.where(np.isnan(call.x), instead, call.x) if call.layer.startswith("ops.nan") else call.x


@meaning("ops.sum", "ops.nansum")
def total(call: Call) -> Array:
    return call.add_up(_without_nan(call, 0.0), **_axis(call)).astype(call.x.dtype)


@meaning("ops.prod", "ops.nanprod")
def product(call: Call) -> Array:
    """In what order factors are multiplied is open, and so is how far the product goes up on its way."""
    x = _without_nan(call, 1.0)
    call.rounded(np.prod(np.maximum(np.abs(x), 1.0), **_axis(call)))
    return call.rounded(np.asarray(np.prod(x, **_axis(call), dtype=x.dtype)))


def _mean(call: Call, x: Array, keepdims: bool) -> Array:
    """The mean of what is no NaN, or of all."""
    axis = call.params.axis
    counted = ~np.isnan(x) if call.layer.startswith("ops.nan") else np.ones(x.shape, dtype=bool)
    terms = np.where(counted, x, 0.0).astype(float)
    return np.asarray(call.add_up(terms, axis, keepdims) / np.sum(counted, axis=axis, keepdims=keepdims))


@meaning("ops.mean", "ops.nanmean")
def mean(call: Call) -> Array:
    return _mean(call, call.x, call.params.keepdims)


@meaning("ops.var", "ops.nanvar")
def variance(call: Call) -> Array:
    centred = call.x - _mean(call, call.x, keepdims=True)
    return _mean(call, np.square(centred), call.params.keepdims)


@meaning("ops.std", "ops.nanstd")
def deviation(call: Call) -> Array:
    return np.asarray(np.sqrt(np.maximum(0.0, variance(call))))


@meaning("ops.moments")
def moments(call: Call) -> list[Array]:
    """The variance may be computed as the mean of squares less the square of the mean."""
    axes, keepdims = call.params.axes, call.params.keepdims
    count = math.prod(call.x.shape[axis] for axis in axes)
    centre = call.add_up(call.x, axes, True) / count
    square = np.mean(np.square(call.x), axis=axes, keepdims=True)
    spread = call.add_up(np.square(call.x - centre), axes, True) / count + (call.rounded(square) - square)
    shape = call.outputs[0].shape if keepdims else np.mean(call.x, axis=axes).shape
    return [centre.reshape(shape), np.maximum(0.0, spread).reshape(shape)]


@meaning("ops.average")
def average(call: Call) -> Array:
    x, weights = call.inputs
    axis = call.params.axis
    if weights.shape != x.shape:
        weights = np.moveaxis(np.broadcast_to(weights, (*x.shape[:axis], *x.shape[axis:][1:], weights.size)), -1, axis)
    return np.asarray(call.add_up(call.rounded(x * weights), axis) / call.add_up(weights, axis))


@meaning("ops.logsumexp")
def log_sum_exp(call: Call) -> Array:
    """Computed beside the largest number, so that nothing leaves the range."""
    axis, keepdims = call.params.axis, call.params.keepdims
    largest = np.max(call.x, axis=axis, keepdims=True)
    beside = np.where(np.isfinite(largest), largest, 0.0)
    added = np.log(call.add_up(np.exp(call.rounded(call.x - beside)), axis, True)) + beside
    return np.asarray(np.max(call.rounded(added), axis=axis, keepdims=keepdims))


@meaning("ops.norm")
def norm(call: Call) -> Array:
    x, (order, axis, keepdims) = call.x, (call.params.ord, call.params.axis, call.params.keepdims)
    if order is None or order == "fro":
        return np.asarray(np.sqrt(call.add_up(np.square(x), axis, keepdims)))
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1:
        return _vector_norm(call, x, order, axes[0], keepdims)
    largest, rows = (np.max if order == 1 else np.min), call.add_up(np.abs(x), axes[0], True)
    return np.asarray(largest(rows, axis=axes, keepdims=keepdims))


def _vector_norm(call: Call, x: Array, order: int, axis: int, keepdims: bool) -> Array:
    if order == 0:
        call.step(np.min(np.abs(x), axis=axis, keepdims=keepdims))
        return np.asarray(np.sum(x != 0, axis=axis, keepdims=keepdims)).astype(float)
    return np.asarray(call.add_up(call.rounded(np.abs(x) ** order), axis, keepdims) ** (1.0 / order))


@meaning("ops.argmax", "ops.argmin", "ops.nanargmax", "ops.nanargmin")
def place_of_extreme(call: Call) -> Array:
    """Which of equal numbers it is, is not documented; nor what is found among nothing but NaN."""
    x, axis, keepdims = call.x.astype(float), call.params.axis, call.params.keepdims
    sign = 1.0 if call.layer.endswith("max") else -1.0
    if call.layer.startswith("ops.nan"):
        x = np.where(np.isnan(x), -sign * np.inf, x)
    shape = call.outputs[0].shape if keepdims else np.argmax(x, axis=axis).shape
    ranked = np.sort(np.moveaxis(sign * x.reshape(x.shape if axis is not None else -1), axis or 0, -1), axis=-1)
    gap = np.diff(ranked[..., -2:], axis=-1).reshape(shape) if ranked.shape[-1] > 1 else np.full(shape, np.inf)
    call.step(gap)
    call.undecided(~(gap > 0))
    return np.asarray(np.argmax(sign * x, axis=axis)).reshape(shape).astype(np.int32)


def _flat(call: Call, x: Array) -> tuple[Array, int]:
    """The input and the axis to go along: without an axis, the one of the flat tensor."""
    return (x.reshape(-1), 0) if call.params.axis is None else (x, call.params.axis)


@meaning("ops.cumsum", "ops.nancumsum")
def running_sum(call: Call) -> Array:
    """Each element strays as a sum of so many terms does."""
    call.leave(Freedom.SUM)
    x, axis = _flat(call, _without_nan(call, 0.0))
    result = np.cumsum(x, axis=axis, dtype=x.dtype)
    magnitude = np.cumsum(np.abs(x), axis=axis, dtype=x.dtype)
    drift = max(1.0, x.shape[axis] / FEW) * (call.rounded(magnitude) - magnitude)
    return result if x.dtype.kind != "f" else result + np.where(np.isfinite(drift), drift, 0.0)


@meaning("ops.cumprod", "ops.nancumprod")
def running_product(call: Call) -> Array:
    x, axis = _flat(call, _without_nan(call, 1.0))
    call.rounded(np.cumprod(np.maximum(np.abs(x), 1), axis=axis))
    return call.rounded(np.cumprod(x, axis=axis, dtype=x.dtype))


@meaning("ops.diff")
def differences(call: Call) -> Array:
    x = call.x
    for _ in range(call.params.n):
        x = call.rounded(np.diff(x, axis=call.params.axis))
    return x


@meaning("ops.trapezoid")
def trapezoid(call: Call) -> Array:
    x = np.moveaxis(call.x, call.params.axis, -1)
    return call.add_up(call.rounded(x[..., 1:] + x[..., :-1]) * (call.params.dx / 2), -1)
