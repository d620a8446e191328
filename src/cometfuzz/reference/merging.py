"""Merging layers, with the mask rules of Keras 3: what is masked is neutral in products and extremes."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from cometfuzz.catalogue.merging import dot_axes
from cometfuzz.reference.call import Array, Call, Freedom, Mask, mask_of, meaning
from cometfuzz.reference.normalisation import unit

Binary = Callable[[Array, Array], Any]
DOT_EPSILON = 1e-7


def aligned(call: Call) -> tuple[list[Array], list[Mask | None]]:
    """Inputs of one rank, new axes after the batch, and masks that broadcast against them.

    An input that has to be given new axes loses its mask, as in Keras.
    """
    rank = max(x.ndim for x in call.inputs)
    inputs = [x.reshape(*x.shape[:1], *[1] * (rank - x.ndim), *x.shape[1:]) for x in call.inputs]
    masks = [
        None if mask is None or x.ndim < rank else np.broadcast_to(mask[..., None], x.shape)
        for x, mask in zip(call.inputs, call.masks, strict=True)
    ]
    return inputs, masks


def fold(call: Call, operation: Binary) -> Array:
    """One input after the other; a library rounds each intermediate result."""
    inputs, _ = aligned(call)
    y = inputs[0]
    for x in inputs[1:]:
        y = call.rounded(operation(y, x))
    return y


@meaning("Add")
def add(call: Call) -> Array:
    return fold(call, np.add)


@meaning("Subtract")
def subtract(call: Call) -> Array:
    return fold(call, np.subtract)


@meaning("Average")
def average(call: Call) -> Array:
    call.leave(Freedom.SUM)
    return fold(call, np.add) / len(call.inputs)


@meaning("Multiply")
def multiply(call: Call) -> Array:
    """Masked elements count as one; where all inputs are masked, the product is zero."""
    inputs, masks = aligned(call)
    present = [mask for mask in masks if mask is not None]
    factors = [x if mask is None else np.where(mask, x, np.ones_like(x)) for x, mask in zip(inputs, masks, strict=True)]
    y = factors[0]
    for x in factors[1:]:
        y = call.rounded(y * x)
    return np.where(reduce(np.logical_or, present), y, np.zeros_like(y)) if len(present) == len(inputs) else y


def extreme(call: Call, operation: Binary) -> Array:
    """Masked elements give way to the others, as long as all inputs so far had a mask; NaN may give way or not."""
    inputs, masks = aligned(call)
    lost = reduce(np.logical_or, (np.isnan(x) for x in inputs))
    call.step(np.where(lost, np.nan, np.inf))
    y, known = inputs[0], masks[0]
    for x, mask in zip(inputs[1:], masks[1:], strict=True):
        other = x if mask is None else np.where(mask, x, y)
        y = y if known is None else np.where(known, y, other)
        known = None if known is None or mask is None else known | mask
        y = operation(y, other)
    return y


@meaning("Maximum")
def maximum(call: Call) -> Array:
    return extreme(call, np.maximum)


@meaning("Minimum")
def minimum(call: Call) -> Array:
    return extreme(call, np.minimum)


@mask_of("Add", "Subtract", "Average", "Multiply", "Maximum", "Minimum")
def any_mask(call: Call) -> Mask | None:
    """A step counts if it counts in any input; all have a mask where this is asked."""
    masks = [mask for mask in call.masks if mask is not None]
    return reduce(np.logical_or, masks)


@meaning("Concatenate")
def concatenate(call: Call) -> Array:
    return np.concatenate(list(call.inputs), axis=call.params.axis)


@mask_of("Concatenate")
def concatenated_mask(call: Call) -> Mask | None:
    """The masks, spread over the features, one after the other; an input without a mask counts everywhere."""
    spread = [
        np.ones(x.shape, bool) if mask is None else np.broadcast_to(mask[..., None], x.shape)
        for x, mask in zip(call.inputs, call.masks, strict=True)
    ]
    return np.asarray(np.concatenate(spread, axis=call.params.axis).any(axis=-1))


@meaning("Dot")
def dot(call: Call) -> Array:
    axes = dot_axes(tuple(call.types), call.params)
    assert axes is not None, "expected axes that the rules have let pass"
    x, y = call.inputs
    if call.params.normalize:
        x, y = (call.rounded(unit(call, side, (axis,), DOT_EPSILON)) for side, axis in zip((x, y), axes, strict=True))
    x, y = np.moveaxis(x, axes[0], -1), np.moveaxis(y, axes[1], -1)
    product = call.contract("bik,bjk->bij", _flat(x), _flat(y))
    return product.reshape(call.outputs[0].shape)


def _flat(x: Array) -> Array:
    """(batch, everything else, summed axis)."""
    return x.reshape(x.shape[0], int(np.prod(x.shape[1:-1])), x.shape[-1])
