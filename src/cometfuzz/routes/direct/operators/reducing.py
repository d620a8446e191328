"""Operators that make one element of many along axes, or of all that come before it."""

from __future__ import annotations

import math
from typing import Any

from cometfuzz.routes.direct.activation import scaled
from cometfuzz.routes.direct.writing import Call, Unsaid, writes


def axes_of(axis: Any, rank: int) -> list[int]:
    """Axes from the front; all of them for None."""
    if axis is None:
        return list(range(rank))
    return [each % rank for each in (axis if isinstance(axis, tuple) else (axis,))]


def _axes(c: Call) -> list[int]:
    return axes_of(c.params.axis, c.rank)


def _keep(c: Call) -> bool:
    return bool(c.params.get("keepdims", False))


def _expect_something(c: Call) -> None:
    if 0 in c.shape:
        raise Unsaid("ONNX leaves open what comes of nothing")


REDUCTIONS = {
    "sum": "ReduceSum",
    "prod": "ReduceProd",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "logsumexp": "ReduceLogSumExp",
}
NEUTRAL = {"nansum": ("ReduceSum", 0.0), "nanprod": ("ReduceProd", 1.0)}
LOST = {"nanmax": ("ReduceMax", -math.inf), "nanmin": ("ReduceMin", math.inf)}


@writes(*(f"ops.{name}" for name in REDUCTIONS))
def reduction(c: Call) -> str:
    _expect_something(c)
    x = c.w.cast(c.x[0], c.outputs[0].dtype)  # the mean of integers is none
    return c.w.reduce(REDUCTIONS[c.layer[len("ops.") :]], x, _axes(c), _keep(c))


@writes(*(f"ops.{name}" for name in NEUTRAL))
def without_nan(c: Call) -> str:
    _expect_something(c)
    kind, neutral = NEUTRAL[c.layer[len("ops.") :]]
    return c.w.reduce(kind, _instead_of_nan(c, neutral), _axes(c), _keep(c))


@writes(*(f"ops.{name}" for name in LOST))
def extreme_without_nan(c: Call) -> str:
    """NaN where there is nothing but NaN."""
    _expect_something(c)
    kind, neutral = LOST[c.layer[len("ops.") :]]
    found = c.w.reduce(kind, _instead_of_nan(c, neutral), _axes(c), _keep(c))
    lost = c.w.cast(c.w.op("IsNaN", c.x[0]), "float32")
    all_lost = c.w.cast(c.w.reduce("ReduceMin", lost, _axes(c), _keep(c)), "bool")
    return c.w.where(all_lost, c.number(math.nan), found)


def _instead_of_nan(c: Call, neutral: float) -> str:
    return c.w.where(c.w.op("IsNaN", c.x[0]), c.number(neutral), c.x[0])


def _variance(c: Call, axes: list[int], keepdims: bool) -> str:
    w, x = c.w, c.x[0]
    apart = w.op("Sub", x, w.reduce("ReduceMean", x, axes, keepdims=True))
    return w.reduce("ReduceMean", w.op("Mul", apart, apart), axes, keepdims)


@writes("ops.var")
def variance(c: Call) -> str:
    _expect_something(c)
    return _variance(c, _axes(c), _keep(c))


@writes("ops.std")
def deviation(c: Call) -> str:
    _expect_something(c)
    return c.w.op("Sqrt", _variance(c, _axes(c), _keep(c)))


@writes("ops.moments")
def moments(c: Call) -> list[str]:
    _expect_something(c)
    axes = axes_of(c.params.axes, c.rank)
    return [c.w.reduce("ReduceMean", c.x[0], axes, c.params.keepdims), _variance(c, axes, c.params.keepdims)]


@writes("ops.average")
def average(c: Call) -> str:
    _expect_something(c)
    w, (x, weights), axes = c.w, c.x, _axes(c)
    if c.types[1].shape != c.shape:
        shape = [1] * c.rank
        shape[axes[0]] = c.shape[axes[0]]
        weights = w.reshape(weights, shape)
    total = w.reduce("ReduceSum", weights, axes)
    if c.types[1].shape != c.shape:
        total = w.reshape(total, [1] * (c.rank - 1)) if c.rank > 1 else total
    return w.op("Div", w.reduce("ReduceSum", w.op("Mul", x, weights), axes), total)


@writes("ops.norm")
def norm(c: Call) -> str:
    _expect_something(c)
    w, x, axes, order, keep = c.w, c.x[0], _axes(c), c.params.ord, c.params.keepdims
    if order in (None, "fro") or (order == 2 and len(axes) == 1):
        return w.reduce("ReduceL2", x, axes, keep)
    if len(axes) == 1:
        if order == 1:
            return w.reduce("ReduceL1", x, axes, keep)
        if order == 0:
            some = w.cast(w.op("Not", w.op("Equal", x, c.number(0.0))), c.dtype)
            return w.reduce("ReduceSum", some, axes, keep)
        powers = w.op("Pow", w.op("Abs", x), c.number(float(order)))
        return w.op("Pow", w.reduce("ReduceSum", powers, axes, keep), c.number(1.0 / order))
    rows = w.reduce("ReduceL1", x, axes[:1], keepdims=True)
    return w.reduce("ReduceMax" if order == 1 else "ReduceMin", rows, axes, keep)


@writes("ops.ptp")
def spread(c: Call) -> str:
    _expect_something(c)
    ends = [c.w.reduce(kind, c.x[0], _axes(c), _keep(c)) for kind in ("ReduceMax", "ReduceMin")]
    return c.w.op("Sub", *ends)


@writes("ops.argmax", "ops.argmin")
def place(c: Call) -> str:
    _expect_something(c)
    w, x, axis = c.w, c.x[0], c.params.axis
    if axis is None:
        x = w.reshape(x, [-1])
    kind = "ArgMax" if c.layer == "ops.argmax" else "ArgMin"
    keep = int(axis is not None and c.params.keepdims)
    found = w.cast(w.op(kind, x, dtype="int64", axis=axis or 0, keepdims=keep), "int32")
    return w.reshape(found, c.outputs[0].shape) if axis is None and c.params.keepdims else found


@writes("ops.all", "ops.any")
def truth(c: Call) -> str:
    """The least or the largest of zeros and ones: booleans have no order before opset 20."""
    _expect_something(c)
    w, x = c.w, c.x[0]
    numbers = w.cast(w.cast(x, "bool"), "int32")
    kind = "ReduceMin" if c.layer == "ops.all" else "ReduceMax"
    return w.cast(w.reduce(kind, numbers, _axes(c), _keep(c)), "bool")


@writes("ops.count_nonzero")
def count(c: Call) -> str:
    _expect_something(c)
    ones = c.w.cast(c.w.cast(c.x[0], "bool"), "int32")
    return c.w.reduce("ReduceSum", ones, _axes(c))


@writes("ops.cumsum", "ops.nancumsum")
def running_sum(c: Call) -> str:
    w, axis = c.w, c.params.axis
    x = _instead_of_nan(c, 0.0) if c.layer == "ops.nancumsum" else c.x[0]
    if axis is None:
        x, axis = w.reshape(x, [math.prod(c.shape)]), 0
    return w.op("CumSum", x, w.constant(axis, "int64"))


@writes("ops.diff")
def differences(c: Call) -> str:
    w, x, axis = c.w, c.x[0], c.params.axis % c.rank
    for size in range(c.shape[axis], max(0, c.shape[axis] - c.params.n), -1):
        x = w.op("Sub", w.slice(x, [1], [size], [axis]), w.slice(x, [0], [size - 1], [axis]))
    return x if c.params.n <= c.shape[axis] else w.op("Identity", x)


@writes("ops.trapezoid")
def trapezoid(c: Call) -> str:
    w, x, axis = c.w, c.x[0], c.params.axis % c.rank
    size = c.shape[axis]
    if size < 2:
        raise Unsaid("ONNX leaves open what comes of nothing")
    pairs = w.op("Add", w.slice(x, [1], [size], [axis]), w.slice(x, [0], [size - 1], [axis]))
    return w.reduce("ReduceSum", scaled(w, pairs, c.params.dx / 2), [axis])


@writes("ops.median")
def median(c: Call) -> str:
    """Of the two in the middle the mean; only along one axis or all."""
    _expect_something(c)
    w, axes, axis = c.w, _axes(c), c.params.axis
    if len(axes) not in (1, c.rank):
        raise Unsaid("TopK goes along one axis")
    x = c.x[0] if len(axes) == 1 else w.reshape(c.x[0], [math.prod(c.shape)])
    axis = axes[0] if len(axes) == 1 else 0
    size = c.shape[axis] if len(axes) == 1 else math.prod(c.shape)
    ordered = w.ops("TopK", x, w.ints([size]), count=2, axis=axis)
    w.dtypes[ordered[1]] = "int64"
    middle = w.slice(ordered[0], [(size - 1) // 2], [size // 2 + 1], [axis])
    found = w.reduce("ReduceMean", middle, [axis], keepdims=_keep(c) and len(axes) == 1)
    return w.reshape(found, c.outputs[0].shape) if len(axes) > 1 else found
