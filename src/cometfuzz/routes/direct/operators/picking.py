"""Operators that choose elements by indices, slices or conditions, or put elements there."""

from __future__ import annotations

import math

import numpy as np

from cometfuzz.routes.direct.writing import Call, Unsaid, writes

REDUCTIONS = {None: "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@writes("ops.take")
def take(c: Call) -> str:
    if c.params.axis is None:
        return c.w.op("Gather", c.w.reshape(c.x[0], [math.prod(c.shape)]), c.x[1], axis=0)
    return c.w.op("Gather", c.x[0], c.x[1], axis=c.params.axis)


@writes("ops.take_along_axis")
def take_along_axis(c: Call) -> str:
    w, axis = c.w, c.params.axis
    if axis is None:
        return w.op("GatherElements", w.reshape(c.x[0], [math.prod(c.shape)]), c.x[1], axis=0)
    whole = c.outputs[0].shape
    axis %= c.rank
    sides = []
    for x, kind in zip(c.x, c.types):
        wanted = tuple(kind.shape[place] if place == axis else size for place, size in enumerate(whole))
        sides.append(x if wanted == kind.shape else w.op("Expand", x, w.ints(wanted)))
    return w.op("GatherElements", *sides, axis=axis)


@writes("ops.unravel_index")
def unravel_index(c: Call) -> list[str]:
    w, found, rest = c.w, [], c.x[0]
    for place in range(len(c.params.shape)):
        behind = w.constant(math.prod(c.params.shape[place + 1 :]), "int32")
        last = place == len(c.params.shape) - 1
        quotient = w.op("Identity", rest) if last else w.op("Div", rest, behind)
        found.append(quotient)
        rest = rest if last else w.op("Sub", rest, w.op("Mul", quotient, behind))
    return found


@writes("ops.get_item")
def get_item(c: Call) -> str:
    """Slices first, then the axes of single indices go, then new ones come."""
    w, key = c.w, list(c.params["key"])
    named = sum(part is not None and part != "..." for part in key)
    if "..." not in key:
        key.append("...")
    place = key.index("...")
    key[place : place + 1] = [(None, None, None)] * (c.rank - named)
    cuts: list[tuple[int, range]] = []
    gone: list[int] = []
    new: list[int] = []
    axis = 0
    for part in key:
        if part is None:
            new.append(axis - len(gone) + len(new))
            continue
        size = c.shape[axis]
        if isinstance(part, tuple):
            taken = range(size)[slice(*part)]
            if len(taken) != size or (taken and taken[0]):
                cuts.append((axis, taken))
        else:
            cuts.append((axis, range(part % size, part % size + 1)))
            gone.append(axis)
        axis += 1
    x = c.x[0]
    if cuts:
        starts = [taken[0] if taken else 0 for _, taken in cuts]
        ends = [_end(taken) for _, taken in cuts]
        steps = [taken.step if taken else 1 for _, taken in cuts]
        x = w.slice(x, starts, ends, [axis for axis, _ in cuts], steps)
    x = w.unsqueeze(w.squeeze(x, gone), new)
    return x if x != c.x[0] else w.op("Identity", x)


def _end(taken: range) -> int:
    """Where a slice ends; one that goes backwards to the first element has its end before it."""
    if not taken:
        return 0
    end = taken[-1] + (1 if taken.step > 0 else -1)
    return end if end >= 0 else -(2**31) + 1


@writes("ops.slice")
def slice_(c: Call) -> str:
    starts = list(c.params.start_indices)
    ends = [start + size for start, size in zip(starts, c.params.shape)]
    return c.w.slice(c.x[0], starts, ends, list(range(c.rank)))


@writes("ops.slice_update")
def slice_update(c: Call) -> str:
    shape = c.types[1].shape
    if 0 in shape:
        return c.w.op("Identity", c.x[0])
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1) + np.array(c.params.start_indices)
    return c.w.op("ScatterND", c.x[0], c.w.constant(grid.astype(np.int64), "int64"), c.x[1])


@writes("ops.scatter_update")
def scatter_update(c: Call) -> str:
    """ONNX leaves open which of several values stays at a place, so there must be a reduction."""
    reduction = c.params.reduction
    if reduction is None and c.types[1].shape[0] > 1:
        raise Unsaid("ONNX leaves open which of several values stays at a place")
    if (reduction in ("add", "mul") and c.w.opset < 16) or (reduction in ("max", "min") and c.w.opset < 18):
        raise Unsaid(f"ScatterND has no {reduction} at opset {c.w.opset}")
    how = {} if reduction is None else {"reduction": REDUCTIONS[reduction]}
    return c.w.op("ScatterND", c.x[0], c.w.cast(c.x[1], "int64"), c.x[2], **how)


@writes("ops.scatter")
def scatter(c: Call) -> str:
    if c.types[0].shape[0] > 1:
        raise Unsaid("ONNX leaves open which of several values stays at a place")
    zeros = c.w.constant(np.zeros(c.params.shape), c.types[1].dtype)
    return c.w.op("ScatterND", zeros, c.w.cast(c.x[0], "int64"), c.x[1])


@writes("ops.select")
def select(c: Call) -> str:
    half = len(c.x) // 2
    found = c.w.constant(c.params.default, c.types[-1].dtype)
    for condition, x in reversed(list(zip(c.x[:half], c.x[half:]))):
        found = c.w.where(condition, x, found)
    return found
