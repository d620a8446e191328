"""Merging layers."""

from __future__ import annotations

import math
from typing import Any

from cometfuzz.routes.direct.writing import Call, writes

DOT_EPSILON = 1e-7


def aligned(c: Call) -> list[str]:
    """Inputs of one rank: new axes stand after the batch."""
    rank = max(len(kind.shape) for kind in c.types)
    return [c.w.unsqueeze(x, list(range(1, 1 + rank - len(kind.shape)))) for x, kind in zip(c.x, c.types)]


def folded(c: Call, kind: str) -> str:
    first, *others = aligned(c)
    for x in others:
        first = c.w.op(kind, first, x)
    return first


@writes("Add")
def add(c: Call) -> str:
    if len(c.x) > 2 and c.types[0].is_float:
        return c.w.op("Sum", *aligned(c))
    return folded(c, "Add")


@writes("Subtract")
def subtract(c: Call) -> str:
    return folded(c, "Sub")


@writes("Multiply")
def multiply(c: Call) -> str:
    c.expect_no_mask()
    return folded(c, "Mul")


@writes("Average")
def average(c: Call) -> str:
    return c.w.op("Mean", *aligned(c))


@writes("Maximum")
def maximum(c: Call) -> str:
    c.expect_no_mask()
    return c.w.op("Max", *aligned(c))


@writes("Minimum")
def minimum(c: Call) -> str:
    c.expect_no_mask()
    return c.w.op("Min", *aligned(c))


@writes("Concatenate")
def concatenate(c: Call) -> str:
    return c.w.op("Concat", *c.x, axis=c.params.axis)


@writes("Dot")
def dot(c: Call) -> str:
    w, axes = c.w, c.params.axes
    given = axes if isinstance(axes, tuple) else (axes, axes)
    sides: list[str] = []
    for x, kind, axis in zip(c.x, c.types, given):
        rank, axis = len(kind.shape), axis % len(kind.shape)
        if c.params.normalize:
            norm = w.op("Max", w.reduce("ReduceL2", x, [axis], keepdims=True), w.number(DOT_EPSILON, x))
            x = w.op("Div", x, norm)
        others = [place for place in range(1, rank) if place != axis]
        sides.append(_as_matrices(c, x, kind.shape, others, axis, last=not sides))
    return w.reshape(w.op("MatMul", *sides), c.outputs[0].shape)


def _as_matrices(c: Call, x: str, shape: Any, others: list[int], axis: int, last: bool) -> str:
    """(batch, others, axis), or with the axis before the others."""
    order = [0, *others, axis] if last else [0, axis, *others]
    size = math.prod(shape[place] for place in others)
    moved = c.w.transpose(x, order)
    if len(others) == 1:
        return moved
    return c.w.reshape(moved, [shape[0], size, shape[axis]] if last else [shape[0], shape[axis], size])
