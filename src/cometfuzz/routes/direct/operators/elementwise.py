"""Operators on each element by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cometfuzz.routes.direct.activation import clipped, scaled, shifted
from cometfuzz.routes.direct.writing import Call, Unsaid, Writing, writes

PLAIN = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "power": "Pow",
    "arccos": "Acos",
    "arccosh": "Acosh",
    "arcsin": "Asin",
    "arcsinh": "Asinh",
    "arctan": "Atan",
    "arctanh": "Atanh",
    "cos": "Cos",
    "cosh": "Cosh",
    "exp": "Exp",
    "fabs": "Abs",
    "abs": "Abs",
    "log": "Log",
    "reciprocal": "Reciprocal",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "erf": "Erf",
    "real": "Identity",
    "conj": "Identity",
    "negative": "Neg",
    "sign": "Sign",
    "ceil": "Ceil",
    "floor": "Floor",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "equal": "Equal",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "logical_not": "Not",
    "isinf": "IsInf",
    "isnan": "IsNaN",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "bitwise_invert": "BitwiseNot",
}
"""Those that ONNX has under another name."""


@writes(*(f"ops.{name}" for name in PLAIN))
def plain(c: Call) -> str:
    return c.w.op(PLAIN[c.layer[len("ops.") :]], *c.x)


def _lesser(w: Writing, x: str, y: str, kind: str) -> str:
    """The lesser or larger of two, where NaN gives way."""
    found = w.op(kind, x, y)
    return w.where(w.op("IsNaN", x), y, w.where(w.op("IsNaN", y), x, found))


def _hypot(w: Writing, x: str, y: str) -> str:
    """Beside the larger one, so that no square leaves the range."""
    x, y = w.op("Abs", x), w.op("Abs", y)
    large, small = w.op("Max", x, y), w.op("Min", x, y)
    whole = w.op("Equal", large, w.number(0.0, x))
    share = w.op("Div", small, w.where(whole, w.number(1.0, x), large))
    return w.op("Mul", large, w.op("Sqrt", shifted(w, w.op("Mul", share, share), 1.0)))


def _logaddexp(w: Writing, x: str, y: str) -> str:
    apart = w.op("Neg", w.op("Abs", w.op("Sub", x, y)))
    return w.op("Add", w.op("Max", x, y), w.op("Log", shifted(w, w.op("Exp", apart), 1.0)))


def _divide_no_nan(w: Writing, x: str, y: str) -> str:
    none = w.op("Equal", y, w.number(0.0, y))
    quotient = w.op("Div", x, w.where(none, w.number(1.0, y), y))
    return w.where(none, w.number(0.0, y), quotient)


def _heaviside(w: Writing, x: str, y: str) -> str:
    zero = w.number(0.0, x)
    beyond = w.where(w.op("Greater", x, zero), w.number(1.0, x), zero)
    return w.where(w.op("Equal", x, zero), y, beyond)


def _floor_divide(w: Writing, x: str, y: str) -> str:
    return w.op("Floor", w.op("Div", x, y))


def _mod(w: Writing, x: str, y: str) -> str:
    return w.op("Sub", x, w.op("Mul", _floor_divide(w, x, y), y))


def _right_of_zero(w: Writing, x: str, y: str) -> str:
    return w.op("Mod", x, y, fmod=1)


BINARY: dict[str, Callable[[Writing, str, str], str]] = {
    "fmax": lambda w, x, y: _lesser(w, x, y, "Max"),
    "fmin": lambda w, x, y: _lesser(w, x, y, "Min"),
    "hypot": _hypot,
    "logaddexp": _logaddexp,
    "divide_no_nan": _divide_no_nan,
    "heaviside": _heaviside,
    "floor_divide": _floor_divide,
    "mod": _mod,
    "fmod": _right_of_zero,
    "not_equal": lambda w, x, y: w.op("Not", w.op("Equal", x, y)),
}


@writes(*(f"ops.{name}" for name in BINARY))
def binary(c: Call) -> str:
    return BINARY[c.layer[len("ops.") :]](c.w, *c.x)


def _positive(w: Writing, x: str, kind: str) -> str:
    return w.op(kind, x, w.number(0.0, x))


def _is(w: Writing, x: str, **which: Any) -> str:
    return w.op("IsInf", x, **which)


UNARY: dict[str, Callable[[Writing, str], str]] = {
    "deg2rad": lambda w, x: scaled(w, x, math.pi / 180),
    "rad2deg": lambda w, x: scaled(w, x, 180 / math.pi),
    "exp2": lambda w, x: w.op("Pow", w.number(2.0, x), x),
    "expm1": lambda w, x: shifted(w, w.op("Exp", x), -1.0),
    "log10": lambda w, x: scaled(w, w.op("Log", x), 1 / math.log(10)),
    "log2": lambda w, x: scaled(w, w.op("Log", x), 1 / math.log(2)),
    "log1p": lambda w, x: w.op("Log", shifted(w, x, 1.0)),
    "cbrt": lambda w, x: w.op("Mul", w.op("Sign", x), w.op("Pow", w.op("Abs", x), w.number(1 / 3, x))),
    "erfc": lambda w, x: w.op("Sub", w.number(1.0, x), w.op("Erf", x)),
    "rsqrt": lambda w, x: w.op("Reciprocal", w.op("Sqrt", x)),
    "square": lambda w, x: w.op("Mul", x, x),
    "trunc": lambda w, x: w.op("Mul", w.op("Sign", x), w.op("Floor", w.op("Abs", x))),
    "isfinite": lambda w, x: w.op("Not", w.op("Or", w.op("IsInf", x), w.op("IsNaN", x))),
    "isneginf": lambda w, x: _is(w, x, detect_positive=0),
    "isposinf": lambda w, x: _is(w, x, detect_negative=0),
}


@writes(*(f"ops.{name}" for name in UNARY if name not in ("expm1", "log1p", "erfc")))
def unary(c: Call) -> str:
    return UNARY[c.layer[len("ops.") :]](c.w, c.x[0])


@writes("ops.ldexp")
def ldexp(c: Call) -> str:
    power = c.w.op("Pow", c.number(2.0), c.w.cast(c.x[1], c.dtype))
    return c.w.op("Mul", c.x[0], power)


@writes("ops.round")
def rounded(c: Call) -> str:
    if not c.params.decimals:
        return c.w.op("Round", c.x[0])
    factor = c.number(10.0**c.params.decimals)
    return c.w.op("Div", c.w.op("Round", c.w.op("Mul", c.x[0], factor)), factor)


@writes("ops.clip")
def clip(c: Call) -> str:
    return clipped(c.w, c.x[0], c.params.x_min, c.params.x_max)


@writes("ops.nan_to_num")
def nan_to_num(c: Call) -> str:
    w, p, x = c.w, c.params, c.x[0]
    known = w.where(w.op("IsNaN", x), c.number(p.nan), x)
    known = w.where(_is(w, x, detect_negative=0), c.number(p.posinf), known)
    return w.where(_is(w, x, detect_positive=0), c.number(p.neginf), known)


@writes("ops.isclose")
def is_close(c: Call) -> str:
    w, p, (x, y) = c.w, c.params, c.x
    allowed = shifted(w, scaled(w, w.op("Abs", y), p.rtol), p.atol)
    near = w.op("LessOrEqual", w.op("Abs", w.op("Sub", x, y)), allowed)
    finite = w.op("Not", w.op("Or", w.op("IsInf", x), w.op("IsInf", y)))
    found = w.op("Or", w.op("And", near, finite), w.op("Equal", x, y))
    if p.equal_nan:
        found = w.op("Or", found, w.op("And", w.op("IsNaN", x), w.op("IsNaN", y)))
    return found


@writes("ops.where")
def where(c: Call) -> str:
    return c.w.where(*c.x)


@writes("ops.left_shift", "ops.right_shift")
def shift(c: Call) -> str:
    """BitShift is of unsigned numbers before opset 28, so a shift is a product or a quotient."""
    power = c.w.op("Pow", c.w.constant(2, "int32"), c.x[1])
    if c.layer == "ops.left_shift":
        return c.w.op("Mul", c.x[0], power)
    if c.types[0].high is None:
        raise Unsaid("a quotient of negative numbers is no shift")
    return c.w.op("Div", c.x[0], power)


@writes("ops.cast")
def cast(c: Call) -> str:
    return c.w.cast(c.x[0], c.params.dtype)
