"""Normalisation layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from cometfuzz.routes.direct.writing import Call, Unsaid, Writing, exact, writes

UNIT_EPSILON = 1e-12


def places(axis: Any, rank: int) -> list[int]:
    """Axes from the front, in order."""
    return sorted(each % rank for each in (axis if isinstance(axis, tuple) else (axis,)))


def along(values: Any, axes: Sequence[int], rank: int) -> Any:
    """A weight over axes in the shape that broadcasts against the input, without needless axes in front."""
    shape = [1] * rank
    for axis, size in zip(axes, values.shape):
        shape[axis] = size
    return values.reshape(shape[axes[0] :])


def swapped(rank: int, axis: int) -> list[int]:
    """The order that brings an axis to the place of the channels, which is 1; it is its own inverse for no axis but
    that and the next: see `back`."""
    return [0, axis, *(place for place in range(1, rank) if place != axis)]


def back(order: Sequence[int]) -> list[int]:
    return [int(place) for place in np.argsort(order)]


@writes("BatchNormalization")
def batch_normalization(c: Call) -> str:
    w, p, (axis,) = c.w, c.params, places(c.params.axis, c.rank)
    *affine, mean, variance = c.weights
    size = mean.shape[0]
    gamma = affine[0] if p.scale else np.ones(size)
    beta = affine[-1] if p.center else np.zeros(size)
    epsilon = p.epsilon
    if not exact(epsilon, c.dtype):
        variance, epsilon = variance + epsilon, 0.0
    order = swapped(c.rank, axis)
    tensors = [c.weight(each) for each in (gamma, beta, mean, variance)]
    y = w.op("BatchNormalization", w.transpose(c.x[0], order), *tensors, epsilon=epsilon)
    return w.transpose(y, back(order))


def are_last(axes: Sequence[int], rank: int) -> bool:
    return list(axes) == list(range(rank - len(axes), rank))


def centred(w: Writing, x: str, axes: Sequence[int], epsilon: float) -> str:
    """(x - mean) / sqrt(variance + epsilon), in the form that fusions look for."""
    apart = w.op("Sub", x, w.reduce("ReduceMean", x, axes, keepdims=True))
    variance = w.reduce("ReduceMean", w.op("Pow", apart, w.number(2.0, x)), axes, keepdims=True)
    return w.op("Div", apart, w.op("Sqrt", w.op("Add", variance, w.number(epsilon, x))))


def by_root_of_squares(w: Writing, x: str, axes: Sequence[int], epsilon: float) -> str:
    square = w.reduce("ReduceMean", w.op("Pow", x, w.number(2.0, x)), axes, keepdims=True)
    return w.op("Div", x, w.op("Sqrt", w.op("Add", square, w.number(epsilon, x))))


def affine(c: Call, y: str, axes: Sequence[int]) -> str:
    weights, p = list(c.weights), c.params
    if p.scale:
        y = c.w.op("Mul", y, c.weight(along(weights.pop(0), axes, c.rank)))
    if p.center:
        y = c.w.op("Add", y, c.weight(along(weights.pop(0), axes, c.rank)))
    return y


@writes("LayerNormalization")
def layer_normalization(c: Call) -> str:
    p, axes = c.params, places(c.params.axis, c.rank)
    _expect_something(c)
    if c.w.has("LayerNormalization") and are_last(axes, c.rank) and exact(p.epsilon, c.dtype):
        shape = [c.shape[axis] for axis in axes]
        gamma = c.weights[0] if p.scale else np.ones(shape)
        beta = [c.weight(c.weights[-1])] if p.center else []
        return c.w.op("LayerNormalization", c.x[0], c.weight(gamma), *beta, axis=-len(axes), epsilon=p.epsilon)
    return affine(c, centred(c.w, c.x[0], axes, p.epsilon), axes)


def _expect_something(c: Call) -> None:
    if 0 in c.shape:
        raise Unsaid("ONNX leaves open what the mean of nothing is")


@writes("GroupNormalization")
def group_normalization(c: Call) -> str:
    w, p, (axis,) = c.w, c.params, places(c.params.axis, c.rank)
    _expect_something(c)
    size = c.shape[axis]
    groups = size if p.groups == -1 else p.groups
    order = swapped(c.rank, axis)
    x = w.transpose(c.x[0], order)
    moved = [c.shape[place] for place in order]
    if w.has("GroupNormalization") and exact(p.epsilon, c.dtype) and c.rank > 2:
        gamma = c.weights[0] if p.scale else np.ones(size)
        beta = c.weights[-1] if p.center else np.zeros(size)
        tensors = c.weight(gamma), c.weight(beta)
        y = w.op("GroupNormalization", x, *tensors, num_groups=groups, epsilon=p.epsilon)
        return w.transpose(y, back(order))
    split = w.reshape(x, [c.shape[0], groups, math.prod(moved[1:]) // groups])
    if exact(p.epsilon, c.dtype):
        scale, offset = c.weight(np.ones(groups)), c.weight(np.zeros(groups))
        y = w.op("InstanceNormalization", split, scale, offset, epsilon=p.epsilon)
    else:
        y = centred(w, split, [2], p.epsilon)
    return affine(c, w.transpose(w.reshape(y, moved), back(order)), [axis])


@writes("RMSNormalization")
def rms_normalization(c: Call) -> str:
    p, axes = c.params, places(c.params.axis, c.rank)
    _expect_something(c)
    if c.w.has("RMSNormalization") and are_last(axes, c.rank) and exact(p.epsilon, c.dtype):
        scale = c.weight(c.weights[0])
        return c.w.op("RMSNormalization", c.x[0], scale, axis=-len(axes), epsilon=p.epsilon)
    y = by_root_of_squares(c.w, c.x[0], axes, p.epsilon)
    return c.w.op("Mul", y, c.weight(along(c.weights[0], axes, c.rank)))


@writes("UnitNormalization")
def unit_normalization(c: Call) -> str:
    return unit(c.w, c.x[0], places(c.params.axis, c.rank), UNIT_EPSILON)


def unit(w: Writing, x: str, axes: Sequence[int], least: Optional[float]) -> str:
    norm = w.reduce("ReduceL2", x, axes, keepdims=True)
    return w.op("Div", x, norm if least is None else w.op("Max", norm, w.number(least, x)))
