"""Operators that repeat the elements of a tensor, put others around them, or keep a diagonal of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cometfuzz.routes.direct.writing import Call, Unsaid, writes


@writes("ops.repeat")
def repeat(c: Call) -> str:
    w, x, axis = c.w, c.x[0], c.params.axis
    size = math.prod(c.shape) if axis is None else c.shape[axis]
    x = w.reshape(x, [size]) if axis is None else x
    places = np.repeat(np.arange(size), c.params.repeats)
    return w.op("Gather", x, w.ints([int(place) for place in places]), axis=axis or 0)


@writes("ops.tile")
def tile(c: Call) -> str:
    repeats = c.params.repeats if isinstance(c.params.repeats, tuple) else (c.params.repeats,)
    missing = len(repeats) - c.rank
    x = c.w.unsqueeze(c.x[0], list(range(missing)))
    return c.w.op("Tile", x, c.w.ints([*[1] * max(0, -missing), *repeats]))


@writes("ops.broadcast_to")
def broadcast_to(c: Call) -> str:
    return c.w.op("Expand", c.x[0], c.w.ints(c.params.shape))


def _pairs(width: Any, rank: int) -> Any:
    if not isinstance(width, tuple) or not isinstance(width[0], tuple):
        (width,) = width if isinstance(width, tuple) else (width,)
        return ((width, width),) * rank
    return width * rank if len(width) == 1 else width


@writes("ops.pad")
def pad(c: Call) -> str:
    pairs, mode = _pairs(c.params.pad_width, c.rank), c.params.mode
    if mode == "symmetric":
        raise Unsaid("ONNX has no padding that repeats the border")
    if mode == "constant":
        value = c.params.constant_values or 0
        return c.w.pad(c.x[0], pairs, bool(value) if c.types[0].dtype == "bool" else value)
    widths = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
    return c.w.op("Pad", c.x[0], c.w.ints(widths), mode="reflect")


@writes("ops.tril", "ops.triu")
def triangle(c: Call) -> str:
    return c.w.op("Trilu", c.x[0], c.w.constant(c.params.k, "int64"), upper=int(c.layer == "ops.triu"))


def _places(c: Call, rows: int, columns: int, offset: int) -> str:
    """Where a diagonal stands in a matrix whose elements stand in a row."""
    places = np.arange(rows * columns).reshape(rows, columns).diagonal(offset)
    if not places.size:
        raise Unsaid("a diagonal of nothing")
    return c.w.ints([int(place) for place in places])


@writes("ops.diagonal", "ops.trace")
def diagonal(c: Call) -> str:
    w, p = c.w, c.params
    plane = [p.axis1 % c.rank, p.axis2 % c.rank]
    others = [axis for axis in range(c.rank) if axis not in plane]
    rows, columns = (c.shape[axis] for axis in plane)
    sizes = [c.shape[axis] for axis in others]
    flat = w.reshape(w.transpose(c.x[0], [*others, *plane]), [*sizes, rows * columns])
    picked = w.op("Gather", flat, _places(c, rows, columns, p.offset), axis=len(others))
    return picked if c.layer == "ops.diagonal" else w.reduce("ReduceSum", picked, [len(others)])


@writes("ops.diag", "ops.diagflat")
def diag(c: Call) -> str:
    """Of a matrix its diagonal; of a vector a matrix that has it there, which is a product with zeros and ones."""
    w, k = c.w, c.params.k
    if c.layer == "ops.diag" and c.rank == 2:
        flat = w.reshape(c.x[0], [math.prod(c.shape)])
        return w.op("Gather", flat, _places(c, c.shape[0], c.shape[1], k), axis=0)
    size = math.prod(c.shape)
    vector = w.reshape(c.x[0], [size, 1] if k >= 0 else [1, size])
    whole = w.pad(vector, [(0, k), (0, 0)] if k >= 0 else [(0, 0), (0, -k)], 0)
    places = np.eye(size + abs(k), k=k, dtype=bool)
    kind = c.types[0].dtype
    return w.where(w.constant(places, "bool"), whole, w.constant(False if kind == "bool" else 0, kind))
