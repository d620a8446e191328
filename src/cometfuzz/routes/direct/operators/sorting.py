"""Operators that put in order, look up, count and gather by number."""

from __future__ import annotations

import math

import numpy as np

from cometfuzz.routes.direct.writing import Call, Unsaid, writes


def _top(c: Call, x: str, size: int, axis: int, largest: int) -> list[str]:
    values, places = c.w.ops("TopK", x, c.w.ints([size]), count=2, axis=axis, largest=largest)
    c.w.dtypes[places] = "int64"
    return [values, places]


@writes("ops.sort", "ops.argsort")
def sort(c: Call) -> str:
    w, x, axis = c.w, c.x[0], c.params.axis
    if 0 in c.shape:
        raise Unsaid("there is nothing to sort")
    if axis is None:
        x, axis, size = w.reshape(x, [math.prod(c.shape)]), 0, math.prod(c.shape)
    else:
        size = c.shape[axis]
    values, places = _top(c, x, size, axis, largest=0)
    return values if c.layer == "ops.sort" else w.cast(places, "int32")


@writes("ops.top_k")
def top_k(c: Call) -> list[str]:
    if 0 in c.shape:
        raise Unsaid("there is nothing to sort")
    values, places = _top(c, c.x[0], c.params.k, -1, largest=1)
    return [values, c.w.cast(places, "int32")]


@writes("ops.one_hot")
def one_hot(c: Call) -> str:
    w, p = c.w, c.params
    values = w.constant([0, 1], p.dtype)
    return w.op(
        "OneHot", w.cast(c.x[0], "int64"), w.constant(p.num_classes, "int64"), values, dtype=p.dtype, axis=p.axis
    )


@writes("ops.searchsorted", "ops.digitize")
def search(c: Call) -> str:
    """How many limits are below each number: they are compared with all of them."""
    w = c.w
    numbers, limits = c.x[::-1] if c.layer == "ops.searchsorted" else c.x
    right = c.layer == "ops.digitize" or c.params.side == "right"
    if any(0 in kind.shape for kind in c.types):
        raise Unsaid("ONNX leaves open what comes of nothing")
    below = w.op("GreaterOrEqual" if right else "Greater", w.unsqueeze(numbers, [-1]), limits)
    return w.reduce("ReduceSum", w.cast(below, "int32"), [-1])


@writes("ops.isin")
def is_in(c: Call) -> str:
    w, (x, members) = c.w, c.x
    if any(0 in kind.shape for kind in c.types):
        raise Unsaid("ONNX leaves open what comes of nothing")
    flat = w.reshape(members, [math.prod(c.types[1].shape)])
    same = w.cast(w.op("Equal", w.unsqueeze(x, [-1]), flat), "int32")
    found = w.cast(w.reduce("ReduceMax", same, [-1]), "bool")
    return w.op("Not", found) if c.params.invert else found


@writes("ops.bincount")
def bincount(c: Call) -> str:
    w = c.w
    if 0 in c.shape or not c.params.minlength:
        raise Unsaid("ONNX leaves open what comes of nothing")
    bins = w.constant(np.arange(c.params.minlength)[:, None], "int32")
    return w.reduce("ReduceSum", w.cast(w.op("Equal", bins, c.x[0]), "int32"), [1])


@writes("ops.segment_sum")
def segment_sum(c: Call) -> str:
    """A product with a matrix of zeros and ones would lose Inf; so rows are added where they belong."""
    w = c.w
    if w.opset < 16:
        raise Unsaid("ScatterND has no add before opset 16")
    if any(0 in kind.shape for kind in c.types):
        raise Unsaid("ONNX leaves open what comes of nothing")
    zeros = w.constant(np.zeros(c.outputs[0].shape), c.outputs[0].dtype)
    places = w.unsqueeze(w.cast(c.x[1], "int64"), [1])
    return w.op("ScatterND", zeros, places, c.x[0], reduction="add")
