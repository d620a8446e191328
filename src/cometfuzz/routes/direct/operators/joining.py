"""Operators that put tensors together, or take one apart."""

from __future__ import annotations

import math

from cometfuzz.routes.direct.writing import Call, Unsaid, writes


@writes("ops.concatenate")
def concatenate(c: Call) -> str:
    return c.w.op("Concat", *c.x, axis=c.params.axis)


@writes("ops.append")
def append(c: Call) -> str:
    if c.params.axis is not None:
        return concatenate_along(c, c.params.axis)
    flat = [c.w.reshape(x, [math.prod(kind.shape)]) for x, kind in zip(c.x, c.types)]
    return c.w.op("Concat", *flat, axis=0)


def concatenate_along(c: Call, axis: int) -> str:
    return c.w.op("Concat", *c.x, axis=axis)


@writes("ops.stack")
def stack(c: Call) -> str:
    axis = c.params.axis % (c.rank + 1)
    return c.w.op("Concat", *(c.w.unsqueeze(x, [axis]) for x in c.x), axis=axis)


@writes("ops.hstack")
def hstack(c: Call) -> str:
    return concatenate_along(c, 0 if c.rank == 1 else 1)


@writes("ops.vstack", "ops.dstack")
def widened_stack(c: Call) -> str:
    """As NumPy's: vectors become rows, and for the third axis matrices of one."""
    deep = c.layer == "ops.dstack"
    new = {1: [0, 2] if deep else [0], 2: [2] if deep else []}.get(c.rank, [])
    parts = [c.w.unsqueeze(x, new) for x in c.x]
    return c.w.op("Concat", *parts, axis=2 if deep else 0)


@writes("ops.meshgrid")
def meshgrid(c: Call) -> list[str]:
    grids, shape = [], c.outputs[0].shape
    swapped = c.params.indexing == "xy" and len(c.x) > 1
    for place, x in enumerate(c.x):
        own = {0: 1, 1: 0}.get(place, place) if swapped else place
        sizes = [1] * len(shape)
        sizes[own] = c.types[place].shape[0]
        grids.append(c.w.op("Expand", c.w.reshape(x, sizes), c.w.ints(shape)))
    return grids


@writes("ops.split", "ops.hsplit", "ops.vsplit", "ops.dsplit", "ops.array_split")
def split(c: Call) -> list[str]:
    axis = {"ops.hsplit": 0 if c.rank == 1 else 1, "ops.vsplit": 0, "ops.dsplit": 2}.get(c.layer)
    axis = c.params.axis if axis is None else axis
    return c.w.split(c.x[0], [kind.shape[axis] for kind in c.outputs], axis)


@writes("ops.unstack")
def unstack(c: Call) -> list[str]:
    if not c.outputs:
        raise Unsaid("there is nothing to take apart")
    axis = c.params.axis % c.rank
    return [c.w.squeeze(part, [axis]) for part in c.w.split(c.x[0], [1] * len(c.outputs), axis)]
