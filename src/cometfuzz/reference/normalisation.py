"""Normalisation layers."""

import numpy as np

from cometfuzz.catalogue.normalisation import positive
from cometfuzz.reference.call import Array, Call, Freedom, meaning
from cometfuzz.reference.run import narrow

UNIT_EPSILON, LEAST_NORM = 1e-12, 1e-6


def axes_of(call: Call) -> tuple[int, ...]:
    """The axes as numbers from 0, in order."""
    return tuple(sorted(positive(call.params.axis, call.x.ndim)))


def along(weight: Array, axes: tuple[int, ...], rank: int) -> Array:
    """A weight over the axes, in the shape that broadcasts against the input."""
    shape = [1] * rank
    for axis, size in zip(axes, weight.shape, strict=True):
        shape[axis] = size
    return weight.reshape(shape)


def affine(call: Call, y: Array, axes: tuple[int, ...], rank: int) -> Array:
    """gamma y + beta, where the layer has them."""
    if call.params.scale:
        y = y * along(call.weights["gamma"], axes, rank)
    if call.params.center:
        y = y + along(call.weights["beta"], axes, rank)
    return y


def mean(x: Array, axes: tuple[int, ...]) -> Array:
    """The mean over the axes, which may be empty: then nobody sees it."""
    count = max(1, int(np.prod([x.shape[axis] for axis in axes])))
    return np.asarray(x.sum(axis=axes, keepdims=True) / count)


def standardised(call: Call, x: Array, axes: tuple[int, ...]) -> Array:
    """(x - mean) / sqrt(variance + epsilon); libraries round the mean, the variance and its parts."""
    call.leave(Freedom.SUM)
    centred = x - call.rounded(mean(x, axes))
    square = mean(np.square(x), axes)  # Keras takes the square of the mean from it: faster, it says, and less stable
    lost = np.where(np.isfinite(square), call.rounded(square) - square, 0.0)
    variance = call.rounded(np.maximum(0.0, mean(np.square(centred), axes) + lost))
    return np.asarray(centred / np.sqrt(variance + epsilon(call, variance, x.shape)))


def epsilon(call: Call, variance: Array, shape: tuple[int, ...]) -> float:
    """What is added to a variance. If that is 0 in the dtype, it keeps nobody from dividing by 0."""
    if narrow(np.asarray(call.params.epsilon), call.types[0].dtype) == 0:
        call.step(np.broadcast_to(variance, shape))
    return float(call.params.epsilon)


@meaning("BatchNormalization")
def batch_normalization(call: Call) -> Array:
    axes, rank = axes_of(call), call.x.ndim
    call.leave(Freedom.SUM)
    centred = call.x - along(call.weights["moving_mean"], axes, rank)
    moving = along(call.weights["moving_variance"], axes, rank)
    variance = call.rounded(moving + epsilon(call, moving, centred.shape))
    return affine(call, call.rounded(centred / np.sqrt(variance)), axes, rank)


@meaning("LayerNormalization")
def layer_normalization(call: Call) -> Array:
    axes = axes_of(call)
    return affine(call, standardised(call, call.x, axes), axes, call.x.ndim)


@meaning("GroupNormalization")
def group_normalization(call: Call) -> Array:
    (axis,), shape = axes_of(call), call.x.shape
    groups = shape[axis] if call.params.groups == -1 else call.params.groups
    split = call.x.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])
    others = tuple(number for number in range(1, split.ndim) if number != axis)
    return affine(call, standardised(call, split, others).reshape(shape), (axis,), call.x.ndim)


@meaning("RMSNormalization")
def rms_normalization(call: Call) -> Array:
    axes = axes_of(call)
    call.leave(Freedom.SUM)
    square = call.rounded(mean(np.square(call.x), axes))
    scale = along(call.weights["scale"], axes, call.x.ndim)
    return np.asarray(call.x / np.sqrt(square + epsilon(call, square, call.x.shape)) * scale)


@meaning("UnitNormalization")
def unit_normalization(call: Call) -> Array:
    return unit(call, call.x, axes_of(call), UNIT_EPSILON)


def unit(call: Call, x: Array, axes: tuple[int, ...], least: float) -> Array:
    """x / max(norm, least). How small a norm counts for nothing differs: TensorFlow divides by at least 1e-6."""
    call.leave(Freedom.SUM)
    square = call.rounded(np.square(x).sum(axis=axes, keepdims=True))
    norm = np.sqrt(square)
    call.step(np.broadcast_to(np.where((norm > 0) & (norm < 2 * LEAST_NORM), 0.0, np.inf), x.shape))
    return x / np.maximum(norm, least)
