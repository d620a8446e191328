"""Operators that normalise, compare with a target, and attend."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cometfuzz.routes.direct.activation import scaled, shifted
from cometfuzz.routes.direct.normalisation import are_last, back, by_root_of_squares, centred, swapped, unit
from cometfuzz.routes.direct.operators.reducing import axes_of
from cometfuzz.routes.direct.writing import Call, exact, writes

USUAL_EPSILON = 1e-7


def _epsilon(c: Call) -> float:
    return USUAL_EPSILON if c.params.epsilon is None else float(c.params.epsilon)


def _axes(c: Call) -> list[int]:
    return sorted(axes_of(c.params.axis, c.rank))


def _along(c: Call, vector: str, axes: Sequence[int]) -> str:
    """A vector over axes as it broadcasts against the input."""
    if are_last(axes, c.rank):
        return vector
    shape = [size if axis in axes else 1 for axis, size in enumerate(c.shape)]
    return c.w.reshape(vector, shape)


@writes("ops.normalize")
def normalize(c: Call) -> str:
    w, x, axes, order = c.w, c.x[0], _axes(c), c.params.order
    if order == 2:
        return unit(w, x, axes, _epsilon(c))
    if order == 1:
        norm = w.reduce("ReduceL1", x, axes, keepdims=True)
    else:
        powers = w.reduce("ReduceSum", w.op("Pow", w.op("Abs", x), c.number(order)), axes, keepdims=True)
        norm = w.op("Pow", powers, c.number(1 / order))
    return w.op("Div", x, w.op("Max", norm, c.number(_epsilon(c))))


@writes("ops.layer_normalization")
def layer_normalization(c: Call) -> str:
    w, axes, epsilon = c.w, _axes(c), _epsilon(c)
    if len(c.x) > 1 and w.has("LayerNormalization") and are_last(axes, c.rank) and exact(epsilon, c.dtype):
        return w.op("LayerNormalization", *c.x, axis=-len(axes), epsilon=epsilon)
    y = centred(w, c.x[0], axes, epsilon)
    for kind, vector in zip(("Mul", "Add"), c.x[1:]):
        y = w.op(kind, y, _along(c, vector, axes))
    return y


@writes("ops.rms_normalization")
def rms_normalization(c: Call) -> str:
    w, axes, epsilon = c.w, _axes(c), _epsilon(c)
    if len(c.x) > 1 and w.has("RMSNormalization") and exact(epsilon, c.dtype):
        return w.op("RMSNormalization", *c.x, axis=-1, epsilon=epsilon)
    y = by_root_of_squares(w, c.x[0], axes, epsilon)
    return w.op("Mul", y, c.x[1]) if len(c.x) > 1 else y


@writes("ops.batch_normalization")
def batch_normalization(c: Call) -> str:
    w, (axis,), epsilon = c.w, _axes(c), c.params.epsilon
    x, mean, variance, *others = c.x
    size = c.shape[axis]
    offset = others[0] if others else c.weight(np.zeros(size))
    scale = others[1] if len(others) > 1 else c.weight(np.ones(size))
    if not exact(epsilon, c.dtype):
        variance, epsilon = w.op("Add", variance, c.number(epsilon)), 0.0
    order = swapped(c.rank, axis) if axis else [1, 0, *range(2, c.rank)]
    y = w.op("BatchNormalization", w.transpose(x, order), scale, offset, mean, variance, epsilon=epsilon)
    return w.transpose(y, back(order))


@writes("ops.binary_crossentropy")
def binary_crossentropy(c: Call) -> str:
    w, (target, logits) = c.w, c.x
    beyond = w.op("Sub", w.op("Relu", logits), w.op("Mul", logits, target))
    near = w.op("Log", shifted(w, w.op("Exp", w.op("Neg", w.op("Abs", logits))), 1.0))
    return w.op("Add", beyond, near)


@writes("ops.categorical_crossentropy")
def categorical_crossentropy(c: Call) -> str:
    w, (target, logits), axis = c.w, c.x, c.params.axis
    products = w.op("Mul", target, w.op("LogSoftmax", logits, axis=axis))
    return w.op("Neg", w.reduce("ReduceSum", products, [axis]))


@writes("ops.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(c: Call) -> str:
    w, (target, logits) = c.w, c.x
    axis = c.params.axis % len(c.types[1].shape)
    chosen = w.op("GatherElements", w.op("LogSoftmax", logits, axis=axis), w.unsqueeze(target, [axis]), axis=axis)
    return w.op("Neg", w.squeeze(chosen, [axis]))


@writes("ops.dot_product_attention")
def dot_product_attention(c: Call) -> str:
    """Heads come to the front; heads of keys are repeated where several heads of queries share one."""
    w, (query, key, value, *others) = c.w, c.x
    heads, groups = c.types[0].shape[2], c.types[1].shape[2]
    sides = [w.transpose(query, [0, 2, 1, 3])]
    for x, order in ((key, [0, 2, 3, 1]), (value, [0, 2, 1, 3])):
        if heads != groups:
            x = w.op("Gather", x, w.ints([place * groups // heads for place in range(heads)]), axis=2)
        sides.append(w.transpose(x, order))
    size = c.types[0].shape[3]
    scale = 1.0 / math.sqrt(size) if c.params.scale is None else c.params.scale
    scores = scaled(w, w.op("MatMul", sides[0], sides[1]), scale)
    if others:
        scores = w.op("Add", scores, others[0])
    far = c.number(-3e4 if c.dtype == "float16" else -1e9)
    if len(others) > 1:
        scores = w.where(others[1], scores, far)
    if c.params.is_causal:
        allowed = np.tri(c.types[0].shape[1], c.types[1].shape[1], dtype=bool)
        scores = w.where(w.constant(allowed, "bool"), scores, far)
    attended = w.op("MatMul", w.op("Softmax", scores, axis=-1), sides[2])
    return w.transpose(attended, [0, 2, 1, 3])
