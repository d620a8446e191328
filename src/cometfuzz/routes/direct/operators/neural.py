"""Activations as operators."""

from __future__ import annotations

from cometfuzz.routes.direct.activation import (
    SIMPLE,
    elu,
    gelu,
    glu,
    scaled,
    shrink,
    squareplus,
    tanh_gelu,
    wide_softmax,
)
from cometfuzz.routes.direct.operators.reducing import axes_of
from cometfuzz.routes.direct.writing import Call, writes

ALIKE = (
    *("relu", "relu6", "sigmoid", "silu", "selu", "log_sigmoid", "hard_sigmoid", "hard_silu", "hard_tanh"),
    *("tanh_shrink", "softplus", "softsign", "sparse_plus", "sparse_sigmoid"),
)
"""Those that layers have under the same names."""


@writes(*(f"ops.{name}" for name in ALIKE))
def alike(c: Call) -> str:
    return SIMPLE[c.layer[len("ops.") :]](c.w, c.x[0])


@writes("ops.celu")
def celu(c: Call) -> str:
    alpha = c.params.alpha
    if alpha == 1.0:
        return elu(c.w, c.x[0])
    if c.w.has("Celu", c.dtype) and not c.is_double:
        return c.w.op("Celu", c.x[0], alpha=alpha)
    return scaled(c.w, elu(c.w, scaled(c.w, c.x[0], 1 / alpha)), alpha)


@writes("ops.gelu")
def gelu_operator(c: Call) -> str:
    return (tanh_gelu if c.params.approximate else gelu)(c.w, c.x[0])


@writes("ops.squareplus")
def squareplus_operator(c: Call) -> str:
    return squareplus(c.w, c.x[0], c.params.b)


@writes("ops.hard_shrink")
def hard_shrink(c: Call) -> str:
    return shrink(c.w, c.x[0], c.params.threshold, 0.0)


@writes("ops.soft_shrink")
def soft_shrink(c: Call) -> str:
    return shrink(c.w, c.x[0], c.params.threshold, c.params.threshold)


@writes("ops.threshold")
def threshold(c: Call) -> str:
    above = c.w.op("Greater", c.x[0], c.number(c.params.threshold))
    return c.w.where(above, c.x[0], c.number(c.params.default_value))


@writes("ops.glu")
def glu_operator(c: Call) -> str:
    return glu(c.w, c.x[0], c.shape[c.params.axis], c.params.axis)


@writes("ops.softmax")
def softmax(c: Call) -> str:
    axes = axes_of(c.params.axis, c.rank)
    return c.w.op("Softmax", c.x[0], axis=axes[0]) if len(axes) == 1 else wide_softmax(c.w, c.x[0], axes)


@writes("ops.log_softmax")
def log_softmax(c: Call) -> str:
    axes = axes_of(c.params.axis, c.rank)
    if len(axes) == 1:
        return c.w.op("LogSoftmax", c.x[0], axis=axes[0])
    return c.w.op("Sub", c.x[0], c.w.reduce("ReduceLogSumExp", c.x[0], axes, keepdims=True))
