"""Operators that bring the elements of one tensor into another shape or order."""

from __future__ import annotations

from typing import Any

import numpy as np

from cometfuzz.routes.direct.operators.reducing import axes_of
from cometfuzz.routes.direct.writing import Call, writes


@writes("ops.reshape", "ops.ravel")
def reshape(c: Call) -> str:
    return c.w.reshape(c.x[0], c.outputs[0].shape)


@writes("ops.copy")
def copy(c: Call) -> str:
    return c.w.op("Identity", c.x[0])


@writes("ops.expand_dims")
def expand_dims(c: Call) -> str:
    axis = c.params.axis
    return c.w.unsqueeze(c.x[0], list(axis) if isinstance(axis, tuple) else [axis])


@writes("ops.squeeze")
def squeeze(c: Call) -> str:
    gone = [axis for axis in axes_of(c.params.axis, c.rank) if c.shape[axis] == 1]
    return c.w.squeeze(c.x[0], gone) if gone else c.w.op("Identity", c.x[0])


def _order(c: Call) -> list[int]:
    """The permutation that an operator is."""
    p, places = c.params, np.empty((0,) * c.rank, dtype=bool)
    numbers = np.arange(c.rank)
    if c.layer == "ops.transpose":
        return list(range(c.rank))[::-1] if p.axes is None else list(p.axes)
    if c.layer == "ops.swapaxes":
        numbers[[p.axis1, p.axis2]] = numbers[[p.axis2, p.axis1]]
        return [int(axis) for axis in numbers]
    shape = np.moveaxis(np.empty(tuple(range(1, c.rank + 1)), dtype=bool), p.source, p.destination).shape
    assert places.ndim == c.rank
    return [size - 1 for size in shape]


@writes("ops.transpose", "ops.swapaxes", "ops.moveaxis")
def transpose(c: Call) -> str:
    return c.w.op("Transpose", c.x[0], perm=_order(c))


def flipped(c: Call, x: str, axes: list[int]) -> str:
    return c.w.slice(x, [-1] * len(axes), [-(2**31) + 1] * len(axes), axes, [-1] * len(axes))


@writes("ops.flip")
def flip(c: Call) -> str:
    return flipped(c, c.x[0], axes_of(c.params.axis, c.rank))


@writes("ops.fliplr", "ops.flipud")
def flip_side(c: Call) -> str:
    return flipped(c, c.x[0], [1 if c.layer == "ops.fliplr" else 0])


@writes("ops.roll")
def roll(c: Call) -> str:
    w, x, axis = c.w, c.x[0], c.params.axis
    shape: Any = c.shape
    if axis is None:
        size = int(np.prod(c.shape))
        x, axis, shape = w.reshape(x, [size]), 0, (size,)
    size = shape[axis]
    shift = c.params.shift % size if size else 0
    if shift:
        parts = w.split(x, [size - shift, shift], axis % len(shape))
        x = w.op("Concat", parts[1], parts[0], axis=axis)
    if c.params.axis is None:
        return w.reshape(x, c.shape)
    return x if shift else w.op("Identity", x)


@writes("ops.rot90")
def rot90(c: Call) -> str:
    w, x, (first, second) = c.w, c.x[0], (axis % c.rank for axis in c.params.axes)
    turns = c.params.k % 4
    order = list(range(c.rank))
    order[first], order[second] = second, first
    if turns == 0:
        return w.op("Identity", x)
    if turns == 2:
        return flipped(c, x, [first, second])
    if turns == 1:
        return w.transpose(flipped(c, x, [second]), order)
    return flipped(c, w.transpose(x, order), [second])
