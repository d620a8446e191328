"""Operators on each element by itself: arithmetic, functions of a number, comparison, logic, bits."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue.operators import (
    LARGEST,
    NUMBERS,
    SMALL,
    Types,
    draw_broadcast,
    elementwise,
    many,
    truth,
)
from cometfuzz.catalogue.spaces import Choice, Computed, Floats
from cometfuzz.catalogue.spec import Ours
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

Array = NDArray[np.float64]
NOTATION = Choice("function", "sign")
"""Whether a call is written as keras.ops.add(x, y) or as x + y."""

_INTEGERS, _TRUTHS = ("int32",), ("bool",)
_ANYTHING = (*NUMBERS, "bool")


def _signed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays alone, for operators that may be written with a sign."""
    return lambda *arrays, notation: function(*arrays)


def _largest(x: Types, p: Params) -> int | None:
    """The bound of what is no larger than the largest of some integers."""
    bounds = [kind.high for kind in many(x)]
    return None if None in bounds else max(bound for bound in bounds if bound is not None)


def _bounds(x: Types) -> tuple[int, int] | None:
    first, second = (kind.high for kind in x)
    return None if first is None or second is None else (first, second)


def _sum_bound(x: Types, p: Params) -> int | None:
    bounds = _bounds(x)
    return None if bounds is None else sum(bounds) - 1


def _product_bound(x: Types, p: Params) -> int | None:
    bounds = _bounds(x)
    return None if bounds is None else (bounds[0] - 1) * (bounds[1] - 1) + 1


# -- arithmetic --------------------------------------------------------------------------------------------------------

_binary = partial(elementwise, count=2, params={"notation": NOTATION})
_binary("add", _signed(np.add), dtypes=NUMBERS, rules=SMALL, high=_sum_bound)
_binary("subtract", _signed(np.subtract), dtypes=NUMBERS, rules=SMALL)
_binary("multiply", _signed(np.multiply), dtypes=NUMBERS, rules=SMALL, high=_product_bound)
_binary("divide", _signed(np.true_divide))
elementwise("maximum", np.maximum, count=2, dtypes=NUMBERS, high=_largest)
elementwise("minimum", np.minimum, count=2, dtypes=NUMBERS, high=_largest)
elementwise("fmax", np.fmax, count=2)
elementwise("fmin", np.fmin, count=2)
elementwise("hypot", np.hypot, count=2)
elementwise("arctan2", np.arctan2, count=2, step=lambda y, x: np.where(x < 0, y, np.inf))
elementwise("logaddexp", np.logaddexp, count=2)
elementwise("logaddexp2", np.logaddexp2, count=2)
elementwise(
    "divide_no_nan", lambda x, y: np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y)), count=2, step=lambda x, y: y
)


def _power_stays_small(x: Types, p: Params) -> bool:
    """Of integers: of one below 2**20, and with an exponent that is no longer than that."""
    bounds = _bounds(x)
    if x[0].dtype != "int32":
        return True
    return bounds is not None and max(bounds[0], 2).bit_length() * bounds[1] <= _BITS


_BITS = 24
_binary("power", _signed(np.power), dtypes=NUMBERS, rules={"integers stay small": Ours(_power_stays_small)})


def _draw_scaled(draw: Draw) -> Types:
    """A number and the exponent of 2 that it is multiplied by."""
    first, second = draw_broadcast(2, FLOATS)(draw)
    return first, TensorType("int32", second.shape, high=draw.integer(1, 9))


elementwise(
    "ldexp",
    lambda x, exponent: x * 2.0**exponent,
    count=2,
    one_dtype=False,
    rules={"exponents are small": Ours(lambda x, p: x[1].dtype == "int32" and 0 < (x[1].high or 99) <= 9)},
    inputs=_draw_scaled,
)
elementwise("heaviside", np.heaviside, count=2, step=lambda x, y: x + 0 * y)


def _to_whole(x: Array) -> Array:
    """How far a number is from the nearest whole one."""
    return x - np.round(x)


def _quotient_step(x: Array, y: Array, notation: str) -> Array:
    return np.asarray(_to_whole(x / y))


def _remainder(x: Array, y: Array, notation: str) -> Array:
    return np.asarray(x - np.floor(x / y) * y)


_binary("floor_divide", lambda x, y, notation: np.floor(x / y), step=_quotient_step)
_binary("mod", _remainder, step=_quotient_step)
elementwise("fmod", np.fmod, count=2, step=lambda x, y: _to_whole(x / y))

# -- functions of one number -------------------------------------------------------------------------------------------

for _name in (
    *(
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctanh",
        "cbrt",
        "cos",
        "cosh",
        "deg2rad",
        "exp",
        "exp2",
        "expm1",
    ),
    *(
        "fabs",
        "log",
        "log10",
        "log1p",
        "log2",
        "rad2deg",
        "reciprocal",
        "sin",
        "sinc",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "i0",
    ),
):
    elementwise(_name, getattr(np, _name))
for _name in ("erf", "erfc", "erfinv"):
    elementwise(_name, None)
for _name in ("real", "conj"):
    elementwise(_name, np.real)  # there are no complex tensors
elementwise("rsqrt", lambda x: 1.0 / np.sqrt(x))
elementwise("negative", _signed(np.negative), dtypes=NUMBERS, params={"notation": NOTATION})
elementwise("abs", _signed(np.abs), dtypes=NUMBERS, params={"notation": NOTATION}, high=_largest)
elementwise("square", np.square, dtypes=NUMBERS, rules=SMALL)
elementwise("sign", np.sign, dtypes=NUMBERS, step=lambda x: x)
for _name in ("ceil", "floor", "trunc"):
    elementwise(_name, getattr(np, _name), step=_to_whole)
elementwise(
    "round",
    lambda x, decimals: np.round(x * 10.0**decimals) / 10.0**decimals,
    params={"decimals": Choice(0, 1, 2)},
    step=lambda x, decimals: np.abs(_to_whole(x * 10.0**decimals)) - 0.5,
)


def _limits(draw: Draw, x: TensorType, p: Params) -> float:
    return draw.integer(-8, 8) / 4


def _is_number(value: object) -> bool:
    return type(value) is float and abs(value) <= 1e6


_LOW = Computed("a number", simplest=-1.0, check=_is_number, draw=_limits)
_HIGH = Computed("a number", simplest=1.0, check=_is_number, draw=lambda draw, x, p: p.x_min + draw.integer(0, 8) / 4)
elementwise(
    "clip",
    lambda x, x_min, x_max: np.clip(x, x_min, x_max),
    params={"x_min": _LOW, "x_max": _HIGH},
    rules={"limits are in order": lambda x, p: p.x_min <= p.x_max},
)
elementwise(
    "nan_to_num",
    lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    params={"nan": Floats(-2, 2, 0, step=0.5), "posinf": Floats(-9, 9, 9, step=1), "neginf": Floats(-9, 9, -9, step=1)},
)

# -- comparison and logic ----------------------------------------------------------------------------------------------


def _apart(x: Array, y: Array, notation: str = "") -> Array:
    return np.asarray(x.astype(float) - y.astype(float))


for _name in ("greater", "greater_equal", "less", "less_equal"):
    _binary(_name, _signed(getattr(np, _name)), dtypes=NUMBERS, dtype=truth, step=_apart)
for _name in ("equal", "not_equal"):
    elementwise(_name, getattr(np, _name), count=2, dtypes=NUMBERS, dtype=truth, step=_apart)
for _name in ("logical_and", "logical_or", "logical_xor"):
    elementwise(_name, getattr(np, _name), count=2, dtypes=_TRUTHS, dtype=truth)
elementwise("logical_not", np.logical_not, dtypes=_TRUTHS, dtype=truth)
for _name in ("isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"):
    elementwise(_name, getattr(np, _name), dtype=truth)
elementwise(
    "isclose",
    None,
    count=2,
    params={
        "rtol": Floats(0, 1, 1e-5, step=0.125),
        "atol": Floats(0, 2, 1e-8, step=0.25),
        "equal_nan": Choice(False, True),
    },
    dtype=truth,
)
elementwise("signbit", np.signbit, dtype=truth, step=lambda x: x)


def _draw_condition(draw: Draw) -> Types:
    """A condition and two tensors that it chooses from."""
    first, second, third = draw_broadcast(3, NUMBERS)(draw)
    return TensorType("bool", first.shape), second, third


elementwise(
    "where",
    lambda condition, x, y: np.where(condition, x, y),
    count=3,
    dtypes=_TRUTHS,
    one_dtype=False,
    dtype=lambda x, p: x[1].dtype,
    high=lambda x, p: _largest(x[1:], p),
    rules={"both choices have one dtype": lambda x, p: x[1].dtype == x[2].dtype and x[1].dtype != "bool"},
    inputs=_draw_condition,
)

# -- bits --------------------------------------------------------------------------------------------------------------


def _mask_bound(x: Types, p: Params) -> int | None:
    """The bound of what has the bits of both numbers."""
    bounds = _bounds(x)
    return None if bounds is None else 1 << max((bound - 1).bit_length() for bound in bounds)


for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    elementwise(_name, getattr(np, _name), count=2, dtypes=_INTEGERS, high=_mask_bound, rules=SMALL)
elementwise("bitwise_invert", np.invert, dtypes=_INTEGERS)
elementwise(
    "left_shift",
    np.left_shift,
    count=2,
    dtypes=_INTEGERS,
    rules={
        **SMALL,
        "shifts are short": lambda x, p: x[1].high is not None and x[1].high <= 9 and (x[0].high or 99) <= 99,
    },
)
elementwise(
    "right_shift",
    np.right_shift,
    count=2,
    dtypes=_INTEGERS,
    rules={"shifts are short": lambda x, p: x[1].high is not None and x[1].high <= 9},
)
elementwise("gcd", np.gcd, count=2, dtypes=_INTEGERS, rules=SMALL)
elementwise(
    "lcm",
    np.lcm,
    count=2,
    dtypes=_INTEGERS,
    high=_product_bound,
    rules={"integers stay small": Ours(lambda x, p: 0 < (_product_bound(x, p) or 0) <= LARGEST)},
)

# -- dtypes ------------------------------------------------------------------------------------------------------------

elementwise(
    "cast",
    lambda x, dtype: np.asarray(x, dtype=float),
    dtypes=_ANYTHING,
    params={"dtype": Choice(*FLOATS, simplest="float32")},
    dtype=lambda x, p: p.dtype,
    rules={
        "no double rounding": lambda x, p: not (x.dtype == "float64" and p.dtype in ("float16", "bfloat16")),
        "between the half precisions through float32": lambda x, p: {x.dtype, p.dtype} != {"float16", "bfloat16"},
        "another dtype": lambda x, p: x.dtype != p.dtype,
    },
)
