"""Activations as operators; those of layers have the same functions."""

import math

import numpy as np

from cometfuzz.catalogue.operators import axes_of
from cometfuzz.catalogue.operators.neural import SIMPLE
from cometfuzz.reference import activation as known
from cometfuzz.reference.call import Array, Call, Freedom, meaning


@meaning(*(f"ops.{name}" for name in SIMPLE))
def simple(call: Call) -> Array:
    return known.activated(call, call.layer.removeprefix("ops."))


@meaning("ops.leaky_relu")
def leaky_relu(call: Call) -> Array | list[Array]:
    return known.leaky_relu(call)


@meaning("ops.elu")
def elu(call: Call) -> Array | list[Array]:
    return known.elu(call)


@meaning("ops.celu")
def celu(call: Call) -> Array:
    known.step_at_nan(call, call.x)
    alpha = call.params.alpha
    return np.where(call.x < 0, alpha * known.below_zero(call.rounded(call.x / alpha), call.rounded), call.x)


@meaning("ops.gelu")
def gelu(call: Call) -> Array:
    return (known.tanh_gelu if call.params.approximate else known.gelu)(call.x, call.rounded)


@meaning("ops.squareplus")
def squareplus(call: Call) -> Array:
    return known.squareplus(call.x, call.rounded, call.params.b)


@meaning("ops.hard_shrink")
def hard_shrink(call: Call) -> Array:
    call.leave(Freedom.COMPARISON)
    call.step(np.abs(call.x) - call.params.threshold)
    return np.where(np.abs(call.x) > call.params.threshold, call.x, 0.0)


@meaning("ops.soft_shrink")
def soft_shrink(call: Call) -> Array:
    call.leave(Freedom.COMPARISON)
    known.step_at_nan(call, call.x)
    return np.asarray(np.sign(call.x) * np.maximum(np.abs(call.x) - call.params.threshold, 0.0))


@meaning("ops.threshold")
def threshold(call: Call) -> Array:
    call.leave(Freedom.COMPARISON)
    call.step(call.x - call.params.threshold)
    return np.where(call.x > call.params.threshold, call.x, call.params.default_value)


@meaning("ops.glu")
def glu(call: Call) -> Array:
    return known.glu(call.x, call.params.axis)


@meaning("ops.softmax")
def softmax(call: Call) -> Array:
    axes = axes_of(call.params.axis, call.x.ndim)
    known.step_beside_nan(call, call.x, axes)
    return known.softmax(call.x, axes[0]) if len(axes) == 1 else known.wide_softmax(call.x, axes, call.rounded)


@meaning("ops.log_softmax")
def log_softmax(call: Call) -> Array:
    axes = axes_of(call.params.axis, call.x.ndim)
    known.step_beside_nan(call, call.x, axes)
    last = tuple(range(-len(axes), 0))
    moved = np.moveaxis(call.x, axes, last)
    flat = moved.reshape(*moved.shape[: -len(axes)], math.prod(moved.shape[-len(axes) :]))
    return np.moveaxis(known.log_softmax(flat, call.rounded).reshape(moved.shape), last, axes)


@meaning("ops.sparsemax")
def sparsemax(call: Call) -> Array:
    axis = call.params.axis
    call.leave(Freedom.COMPARISON)
    known.step_at_nan(call, call.x)
    known.step_beside_nan(call, call.x, axis)
    return np.moveaxis(known.sparsemax(np.moveaxis(call.x, axis, -1), call.rounded), -1, axis)
