"""Activations, by name and as layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Optional

from cometfuzz.routes.direct.writing import Call, Unsaid, Writing, exact, writes

SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
ALONG_THE_LAST = ("softmax", "log_softmax", "glu", "sparsemax")
"""Activations that are not of each number by itself."""


def scaled(w: Writing, x: str, factor: float) -> str:
    return w.op("Mul", x, w.number(factor, x))


def shifted(w: Writing, x: str, term: float) -> str:
    return w.op("Add", x, w.number(term, x))


def clipped(w: Writing, x: str, low: float, high: float) -> str:
    return w.op("Clip", x, w.number(low, x), w.number(high, x))


def elu(w: Writing, x: str, alpha: float = 1.0) -> str:
    if exact(alpha, w.dtypes[x]):
        return w.op("Elu", x, alpha=alpha)
    below = scaled(w, shifted(w, w.op("Exp", w.op("Min", x, w.number(0.0, x))), -1.0), alpha)
    return w.where(w.op("Less", x, w.number(0.0, x)), below, x)


def selu(w: Writing, x: str) -> str:
    if w.dtypes[x] != "float64":
        return w.op("Selu", x)
    return scaled(w, elu(w, x, SELU_ALPHA), SELU_SCALE)


def hard_sigmoid(w: Writing, x: str) -> str:
    if w.dtypes[x] != "float64":
        return w.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    return w.op("Div", clipped(w, shifted(w, x, 3.0), 0.0, 6.0), w.number(6.0, x))


def hard_silu(w: Writing, x: str) -> str:
    if w.has("HardSwish", w.dtypes[x]) and w.dtypes[x] != "float64":
        return w.op("HardSwish", x)
    return w.op("Mul", x, hard_sigmoid(w, x))


def shrink(w: Writing, x: str, threshold: float, bias: float) -> str:
    if exact(threshold, w.dtypes[x]) and w.has("Shrink", w.dtypes[x]):
        return w.op("Shrink", x, lambd=threshold, bias=bias)
    far = w.op("Greater", w.op("Abs", x), w.number(threshold, x))
    moved = w.op("Sub", x, w.op("Mul", w.op("Sign", x), w.number(bias, x))) if bias else x
    return w.where(far, moved, w.number(0.0, x))


def squareplus(w: Writing, x: str, b: float = 4.0) -> str:
    root = w.op("Sqrt", shifted(w, w.op("Mul", x, x), b))
    return scaled(w, w.op("Add", x, root), 0.5)


def gelu(w: Writing, x: str) -> str:
    if w.has("Gelu"):
        return w.op("Gelu", x)
    erf = w.op("Erf", w.op("Div", x, w.number(math.sqrt(2.0), x)))
    return scaled(w, w.op("Mul", x, shifted(w, erf, 1.0)), 0.5)


def tanh_gelu(w: Writing, x: str) -> str:
    if w.has("Gelu"):
        return w.op("Gelu", x, approximate="tanh")
    cube = w.op("Mul", x, w.op("Mul", x, x))
    inner = scaled(w, w.op("Add", x, scaled(w, cube, 0.044715)), math.sqrt(2.0 / math.pi))
    return scaled(w, w.op("Mul", x, shifted(w, w.op("Tanh", inner), 1.0)), 0.5)


def leaky_relu(w: Writing, x: str, slope: float = 0.2) -> str:
    if exact(slope, w.dtypes[x]):
        return w.op("LeakyRelu", x, alpha=slope)
    return w.where(w.op("Less", x, w.number(0.0, x)), scaled(w, x, slope), x)


def mish(w: Writing, x: str) -> str:
    return w.op("Mish", x) if w.has("Mish", w.dtypes[x]) else w.op("Mul", x, w.op("Tanh", w.op("Softplus", x)))


def silu(w: Writing, x: str) -> str:
    return w.op("Swish", x) if w.has("Swish") else w.op("Mul", x, w.op("Sigmoid", x))


def sparse_plus(w: Writing, x: str) -> str:
    one = shifted(w, x, 1.0)
    middle = scaled(w, w.op("Mul", one, one), 0.25)
    above = w.where(w.op("Greater", x, w.number(1.0, x)), x, middle)
    return w.where(w.op("Less", x, w.number(-1.0, x)), w.number(0.0, x), above)


SIMPLE: dict[str, Callable[[Writing, str], str]] = {
    "linear": lambda w, x: x,
    "relu": lambda w, x: w.op("Relu", x),
    "relu6": lambda w, x: clipped(w, x, 0.0, 6.0),
    "sigmoid": lambda w, x: w.op("Sigmoid", x),
    "tanh": lambda w, x: w.op("Tanh", x),
    "softmax": lambda w, x: w.op("Softmax", x, axis=-1),
    "elu": elu,
    "selu": selu,
    "softplus": lambda w, x: w.op("Softplus", x),
    "softsign": lambda w, x: w.op("Softsign", x),
    "exponential": lambda w, x: w.op("Exp", x),
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": hard_silu,
    "hard_tanh": lambda w, x: clipped(w, x, -1.0, 1.0),
    "hard_shrink": lambda w, x: shrink(w, x, 0.5, 0.0),
    "soft_shrink": lambda w, x: shrink(w, x, 0.5, 0.5),
    "tanh_shrink": lambda w, x: w.op("Sub", x, w.op("Tanh", x)),
    "squareplus": squareplus,
    "celu": elu,
    "gelu": gelu,
    "leaky_relu": leaky_relu,
    "log_sigmoid": lambda w, x: w.op("Neg", w.op("Softplus", w.op("Neg", x))),
    "log_softmax": lambda w, x: w.op("LogSoftmax", x, axis=-1),
    "mish": mish,
    "silu": silu,
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": lambda w, x: clipped(w, scaled(w, shifted(w, x, 1.0), 0.5), 0.0, 1.0),
}
"""Activations by Keras' names; `glu` and `sparsemax` need to know sizes."""


def activated(w: Writing, x: str, name: Optional[str], size: int) -> str:
    """An activation of a tensor whose last axis has a size."""
    if name is None:
        return x
    if name == "glu":
        return glu(w, x, size, -1)
    if name not in SIMPLE:
        raise Unsaid(f"nobody writes the activation {name}")
    return SIMPLE[name](w, x)


def glu(w: Writing, x: str, size: int, axis: int) -> str:
    left, right = w.split(x, [size // 2] * 2, axis)
    return w.op("Mul", left, w.op("Sigmoid", right))


def wide_softmax(w: Writing, x: str, axes: Sequence[int]) -> str:
    """A softmax over several axes, of which ONNX has none."""
    power = w.op("Exp", w.op("Sub", x, w.reduce("ReduceMax", x, axes, keepdims=True)))
    return w.op("Div", power, w.reduce("ReduceSum", power, axes, keepdims=True))


@writes("Activation")
def activation(c: Call) -> str:
    if c.params.activation == "linear":
        return c.w.op("Identity", c.x[0])
    return activated(c.w, c.x[0], c.params.activation, c.shape[-1])


@writes("ReLU")
def relu(c: Call) -> str:
    w, p, x = c.w, c.params, c.x[0]
    if not p.threshold and not p.negative_slope:
        return w.op("Relu", x) if p.max_value is None else clipped(w, x, 0.0, p.max_value)
    if not p.threshold and p.max_value is None:
        return leaky_relu(w, x, p.negative_slope)
    if p.max_value is None and not p.negative_slope and exact(p.threshold, c.dtype):
        return w.op("ThresholdedRelu", x, alpha=p.threshold)  # another one at the threshold, where nobody knows
    below = scaled(w, shifted(w, x, -p.threshold), p.negative_slope) if p.negative_slope else w.number(0.0, x)
    y = w.where(w.op("Less", x, w.number(p.threshold, x)), below, x)
    return y if p.max_value is None else w.op("Min", y, w.number(p.max_value, x))


@writes("LeakyReLU", "ops.leaky_relu")
def leaky_relu_layer(c: Call) -> str:
    return leaky_relu(c.w, c.x[0], c.params.negative_slope)


@writes("PReLU")
def prelu(c: Call) -> str:
    return c.w.op("PRelu", c.x[0], c.weight(c.weights[0]))


@writes("ELU", "ops.elu")
def elu_layer(c: Call) -> str:
    return elu(c.w, c.x[0], c.params.alpha)


@writes("ThresholdedReLU")
def thresholded_relu(c: Call) -> str:
    if not exact(c.params.theta, c.dtype):
        far = c.w.op("Greater", c.x[0], c.number(c.params.theta))
        return c.w.where(far, c.x[0], c.number(0.0))
    return c.w.op("ThresholdedRelu", c.x[0], alpha=c.params.theta)


@writes("Softmax")
def softmax(c: Call) -> str:
    c.expect_no_mask()
    axis = c.params.axis
    axes = axis if isinstance(axis, tuple) else (axis,)
    return c.w.op("Softmax", c.x[0], axis=axes[0]) if len(axes) == 1 else wide_softmax(c.w, c.x[0], axes)
