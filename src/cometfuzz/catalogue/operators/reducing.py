"""Operators that make one element of many along axes, or of all that come before it."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    KEEPDIMS,
    LARGEST,
    NUMBERS,
    RANKS,
    Types,
    axes_exist,
    axes_of,
    axes_space,
    axis_space,
    draw_tensor,
    floating,
    index,
    operator,
    reduced,
    reduced_size,
    truth,
)
from cometfuzz.catalogue.spaces import Choice, Computed, Floats, Ints
from cometfuzz.catalogue.spec import LayerSpec, Ours, Rule, Shape, unbounded
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

Array = NDArray[Any]
Bound = Callable[[Any, Any], int | None]

NOT_EMPTY: Mapping[str, Rule] = {
    "there is something to reduce": Ours(lambda x, p: reduced_size(x.shape, p.axis) > 0),
}


def _few(bound: Bound) -> Mapping[str, Rule]:
    """Integers whose sums or products stay far from where int32 ends."""
    return {
        "integers stay small": Ours(
            lambda x, p: x.dtype != "int32" or ((found := bound(x, p)) is not None and found <= LARGEST)
        )
    }


def _sum_bound(x: TensorType, p: Params) -> int | None:
    return None if x.high is None else (x.high - 1) * reduced_size(x.shape, p.axis) + 1


def _product_bound(x: TensorType, p: Params) -> int | None:
    if x.high is None or (x.high > 2 and reduced_size(x.shape, p.axis) > 64):
        return None
    return int(max(1, x.high - 1) ** reduced_size(x.shape, p.axis)) + 1


def _same_bound(x: TensorType, p: Params) -> int | None:
    return x.high


def reduction(
    name: str,
    formula: Callable[..., Any] | None = None,
    *,
    dtypes: Sequence[str] = FLOATS,
    rules: Mapping[str, Rule] | None = None,
    one_axis: bool = False,
    keepdims: bool = True,
    **block: Any,
) -> LayerSpec:
    """Declare a reduction along one axis, several (unless `one_axis`) or all of them."""
    axis = axis_space(None, none=True) if one_axis else axes_space()
    return operator(
        name,
        formula=formula,
        dtypes=dtypes,
        output_ranks=block.pop("output_ranks", range(max(RANKS) + 1)),
        params={"axis": axis, **({"keepdims": KEEPDIMS} if keepdims else {}), **block.pop("params", {})},
        rules={**AXIS_EXISTS, **(rules or {})},
        shape=block.pop("shape", lambda x, p: reduced(x.shape, p.axis, p.get("keepdims", False))),
        inputs=block.pop("inputs", lambda draw: (draw_tensor(draw, RANKS, dtypes),)),
        **block,
    )


# -- sums, products and what is made of them ---------------------------------------------------------------------------

reduction("sum", dtypes=NUMBERS, high=_sum_bound, rules=_few(_sum_bound))
reduction("nansum")
reduction("prod", dtypes=NUMBERS, high=_product_bound, rules=_few(_product_bound))
reduction("nanprod")
reduction("mean", dtypes=NUMBERS, dtype=floating, rules={**NOT_EMPTY, **_few(_sum_bound)})
for _name in ("nanmean", "std", "nanstd", "var", "nanvar", "logsumexp"):
    reduction(_name, rules=NOT_EMPTY)


def _weights_fit(x: Types, p: Params) -> bool:
    whole = x[0].shape == x[1].shape
    return whole or (p.axis is not None and x[1].shape == (x[0].shape[p.axis],))


def _draw_weighted(draw: Draw) -> Types:
    """A tensor, and weights of the same shape or for one of its axes."""
    x = draw_tensor(draw, RANKS, FLOATS)
    return x, TensorType(x.dtype, x.shape if draw.chance(0.5) else (draw.choice(x.shape),))


def _draw_axis_of_weights(draw: Draw, x: Types, p: Params) -> int | None:
    """An axis along which the weights fit."""
    first, weights = x
    if first.shape == weights.shape:
        return None if draw.chance(0.3) else draw.integer(-first.rank, first.rank - 1)
    fitting = [axis for axis in range(-first.rank, first.rank) if (first.shape[axis],) == weights.shape]
    return draw.choice(fitting) if fitting else 0


operator(
    "average",
    arity=(2, 2),
    output_ranks=range(max(RANKS)),
    params={
        "axis": Computed(
            "an axis, or null for all",
            simplest=None,
            check=lambda value: value is None or (type(value) is int and -8 <= value < 8),
            draw=_draw_axis_of_weights,
        )
    },
    rules={
        "axes exist": axes_exist,
        "weights fit": lambda x, p: axes_exist(x, p) and _weights_fit(x, p),
        "there is something to reduce": Ours(lambda x, p: axes_exist(x, p) and reduced_size(x[0].shape, p.axis) > 0),
    },
    shape=lambda x, p: reduced(x[0].shape, p.axis, False),
    inputs=_draw_weighted,
    doc="The mean with weights, which are the second tensor.",
)


def _moments_axes(x: TensorType, p: Params) -> bool:
    found = axes_of(p.axes, x.rank)
    return all(0 <= each < x.rank for each in found) and len(set(found)) == len(found)


def _draw_some_axes(draw: Draw, x: TensorType, p: Params) -> tuple[int, ...]:
    return tuple(draw.shuffled(range(x.rank))[: draw.integer(1, x.rank)])


def _are_axes(value: object) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(type(each) is int and -8 <= each < 8 for each in value)


operator(
    "moments",
    output_ranks=range(max(RANKS) + 1),
    params={
        "axes": Computed("several axes", simplest=(0,), check=_are_axes, draw=_draw_some_axes),
        "keepdims": KEEPDIMS,
    },
    rules={
        "axes exist": _moments_axes,
        "there is something to reduce": Ours(lambda x, p: _moments_axes(x, p) and reduced_size(x.shape, p.axes) > 0),
    },
    shape=lambda x, p: [reduced(x.shape, p.axes, p.keepdims)] * 2,
    inputs=lambda draw: (draw_tensor(draw, RANKS, FLOATS),),
    excluded={"synchronized": "it needs several devices"},
    doc="Mean and variance.",
)

# -- norms -------------------------------------------------------------------------------------------------------------

_MATRIX_NORMS = (None, "fro", 1, -1)
_VECTOR_NORMS = (None, 0, 1, -1, 2, -2, 3)


def _norm_axes(x: TensorType, p: Params) -> int:
    return x.rank if p.axis is None else len(axes_of(p.axis, x.rank))


def _norm_exists(x: TensorType, p: Params) -> bool:
    """As documented: of vectors, of matrices, and of a whole tensor if no order is named."""
    count = _norm_axes(x, p)
    return p.ord in {1: _VECTOR_NORMS, 2: _MATRIX_NORMS}.get(count, (None,) if p.axis is None else ())


def _draw_norm_axes(draw: Draw, x: TensorType, p: Params) -> Any:
    vector = axis_space().draw(draw, x, p)
    if draw.chance(0.2):
        return None
    if x.rank < 2 or p.ord not in _MATRIX_NORMS or (p.ord in _VECTOR_NORMS and draw.chance(0.5)):
        return vector
    return tuple(axis - x.rank if draw.chance(0.3) else axis for axis in draw.shuffled(range(x.rank))[:2])


operator(
    "norm",
    output_ranks=range(max(RANKS) + 1),
    params={
        "ord": Choice(*dict.fromkeys((*_MATRIX_NORMS, *_VECTOR_NORMS))),
        "axis": Computed(
            "an axis, two of them, or null for all",
            simplest=None,
            check=lambda value: axes_space().problem(value) is None,
            draw=_draw_norm_axes,
        ),
        "keepdims": KEEPDIMS,
    },
    rules={
        **AXIS_EXISTS,
        "there is such a norm": _norm_exists,
        **NOT_EMPTY,
    },
    shape=lambda x, p: reduced(x.shape, p.axis, p.keepdims),
    inputs=lambda draw: (draw_tensor(draw, RANKS, FLOATS),),
    doc="A norm of vectors or matrices; not of infinite order, nor by singular values, which libraries refuse of NaN.",
)

# -- the largest, the smallest, and where they are ---------------------------------------------------------------------

reduction("max", np.max, dtypes=NUMBERS, high=_same_bound, rules=NOT_EMPTY)
reduction("min", np.min, dtypes=NUMBERS, high=_same_bound, rules=NOT_EMPTY)
reduction("nanmax", np.fmax.reduce, rules=NOT_EMPTY)
reduction("nanmin", np.fmin.reduce, rules=NOT_EMPTY)
reduction(
    "ptp",
    lambda x, axis, keepdims: np.max(x, axis, keepdims=keepdims) - np.min(x, axis, keepdims=keepdims),
    rules=NOT_EMPTY,
)
for _name in ("argmax", "argmin", "nanargmax", "nanargmin"):
    reduction(
        _name,
        dtypes=FLOATS if _name.startswith("nan") else NUMBERS,
        dtype=index,
        high=lambda x, p: max(1, reduced_size(x.shape, p.axis)),
        one_axis=True,
        rules=NOT_EMPTY,
    )

# -- order -------------------------------------------------------------------------------------------------------------


def _none(x: Array, axis: Any, keepdims: bool, several: tuple[int, ...] = ()) -> Array:
    """The result of an empty tensor, which is empty: NumPy's own median and quantiles take one axis of it at most."""
    rest = np.sum(x, axis=axis, keepdims=keepdims)
    return np.broadcast_to(rest, (*several, *rest.shape))


reduction(
    "median",
    lambda x, axis, keepdims: np.median(x, axis=axis, keepdims=keepdims) if x.size else _none(x, axis, keepdims),
    rules=NOT_EMPTY,
)

_EIGHTHS, _FEW = 8, 16


def _nan_quantile(x: Array, q: Any, **named: Any) -> Any:
    """Without NumPy's warning that there is nothing but NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanquantile(x, q, **named)


def quantiles(name: str, function: Callable[..., Any], whole: float) -> LayerSpec:
    """Declare an operator that finds quantiles; shares are parts of `whole`.

    They are drawn in eighths: the place of a quantile among few numbers is then exact in any dtype.
    """

    def shares(p: Params) -> tuple[float, ...]:
        return p.q if isinstance(p.q, tuple) else (p.q,)

    def exact(x: TensorType, p: Params) -> bool:
        """Whether the places are such that no rounding chooses another number; halfway, the nearest one is open."""
        places = [share * (reduced_size(x.shape, p.axis) - 1) / whole for share in shares(p)]
        plain = all(place * _EIGHTHS % 1 == 0 and place < _FEW for place in places)
        return p.method == "linear" or (plain and (p.method != "nearest" or all(each % 1 != 0.5 for each in places)))

    def shape(x: TensorType, p: Params) -> Shape:
        rest = reduced(x.shape, p.axis, p.keepdims)
        return (len(p.q), *rest) if isinstance(p.q, tuple) else rest

    def draw_q(draw: Draw, x: TensorType, p: Params) -> Any:
        drawn = tuple(draw.integer(0, _EIGHTHS) * whole / _EIGHTHS for _ in range(draw.integer(2, 3)))
        return drawn if draw.chance(0.4) else drawn[0]

    def check(value: object) -> bool:
        several = value if isinstance(value, tuple) and len(value) > 1 else (value,)
        return all(type(each) is float and 0 <= each <= whole for each in several)

    return reduction(
        name,
        lambda x, axis, keepdims, q, method: (
            function(x, np.divide(q, whole), axis=axis, keepdims=keepdims, method=method)
            if x.size
            else _none(x, axis, keepdims, np.shape(q))
        ),
        params={
            "q": Computed("a share, or several", simplest=whole / 2, check=check, draw=draw_q),
            "method": Choice("linear", "lower", "higher", "midpoint", "nearest"),
        },
        rules={**NOT_EMPTY, "no rounding decides which number it is": Ours(exact)},
        output_ranks=range(max(RANKS) + 2),
        shape=shape,
    )


quantiles("quantile", np.quantile, 1.0)
quantiles("percentile", np.quantile, 100.0)
quantiles("nanquantile", _nan_quantile, 1.0)
quantiles("nanpercentile", _nan_quantile, 100.0)
reduction("nanmedian", partial(_nan_quantile, q=0.5), rules=NOT_EMPTY)

# -- truth -------------------------------------------------------------------------------------------------------------

_COUNTED = (*NUMBERS, "bool")
reduction("all", np.all, dtypes=("bool", "int32"), dtype=truth)
reduction("any", np.any, dtypes=("bool", "int32"), dtype=truth)
reduction(
    "count_nonzero",
    lambda x, axis: np.sum(x != 0, axis=axis, dtype=np.int32),
    dtypes=_COUNTED,
    dtype=index,
    high=lambda x, p: reduced_size(x.shape, p.axis) + 1,
    keepdims=False,
    step=lambda x, axis: np.min(np.abs(x.astype(float)), axis=axis, initial=np.inf),
)

# -- what goes on along an axis ----------------------------------------------------------------------------------------


def _running_shape(x: TensorType, p: Params) -> Shape:
    return (math.prod(x.shape),) if p.axis is None else x.shape


def running(name: str, dtypes: Sequence[str] = FLOATS, bound: Bound = unbounded) -> LayerSpec:
    """Declare an operator that has a result for all elements up to each one; without an axis, of the flat tensor."""
    return operator(
        name,
        dtypes=dtypes,
        params={"axis": axis_space(None, none=True)},
        rules={**AXIS_EXISTS, **(_few(bound) if "int32" in dtypes else {})},
        shape=_running_shape,
        high=bound,
        inputs=lambda draw: (draw_tensor(draw, RANKS, dtypes),),
        excluded={"dtype": "another dtype is a cast"},
    )


running("cumsum", NUMBERS, _sum_bound)
running("cumprod", NUMBERS, _product_bound)
running("nancumsum")
running("nancumprod")


def _axis_exists(x: TensorType, p: Params) -> bool:
    return bool(-x.rank <= p.axis < x.rank)


def _diff_shape(x: TensorType, p: Params) -> Shape:
    axis = p.axis % x.rank
    return tuple(max(0, size - p.n) if place == axis else size for place, size in enumerate(x.shape))


operator(
    "diff",
    dtypes=NUMBERS,
    params={"n": Ints(1, 3), "axis": axis_space()},
    rules={
        "axes exist": _axis_exists,
        "integers are small": Ours(lambda x, p: x.dtype != "int32" or (x.high or LARGEST) < LARGEST),
        "few differences": Ours(lambda x, p: p.n <= 5),
    },
    shape=_diff_shape,
    inputs=lambda draw: (draw_tensor(draw, RANKS, NUMBERS),),
    doc="The differences of neighbours, n times.",
)
operator(
    "trapezoid",
    output_ranks=range(max(RANKS)),
    params={"dx": Floats(0.25, 4, 1, step=0.25), "axis": axis_space()},
    rules={"axes exist": _axis_exists},
    shape=lambda x, p: reduced(x.shape, p.axis, False),
    inputs=lambda draw: (draw_tensor(draw, RANKS, FLOATS),),
    excluded={"x": "Keras takes the places as a constant only"},
    doc="The integral along an axis, by trapezoids.",
)
