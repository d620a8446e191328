"""Operators that put in order, look up, count and gather by number."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    LARGEST,
    NUMBERS,
    RANKS,
    Types,
    axis_space,
    draw_dtype,
    draw_tensor,
    index,
    operator,
    truth,
)
from cometfuzz.catalogue.spaces import Choice, Computed
from cometfuzz.catalogue.spec import LayerSpec, Ours, Rule, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

Array = NDArray[Any]


def _size(low: int, high: Callable[[Any], int]) -> Computed:
    """A number that depends on the inputs; whether it fits is the business of rules."""
    return Computed(
        "a small number",
        simplest=low,
        check=lambda value: type(value) is int and low <= value <= LARGEST,
        draw=lambda draw, x, p: high(x) + (draw.integer(0, 3) if draw.chance(0.5) else 0),
    )


def _long(draw: Draw, rank: int) -> Shape:
    """A small shape whose first axis is no batch of at most three: it is what is counted along."""
    first, *rest = draw_shape(draw, rank)
    return (draw.integer(1, 9) if first else 0, *rest)


# -- order -------------------------------------------------------------------------------------------------------------


def _flat_or_same(x: TensorType, p: Params) -> Shape:
    return (math.prod(x.shape),) if p.axis is None else x.shape


def _along(x: TensorType, p: Params) -> int:
    return math.prod(x.shape) if p.axis is None else x.shape[p.axis]


_AXIS = axis_space(-1, none=True)
operator(
    "sort",
    formula=lambda x, axis: np.sort(x, axis=axis),
    dtypes=NUMBERS,
    params={"axis": _AXIS},
    rules=AXIS_EXISTS,
    shape=_flat_or_same,
    high=lambda x, p: x.high,
    inputs=lambda draw: (draw_tensor(draw, RANKS, NUMBERS),),
)
operator(
    "argsort",
    dtypes=NUMBERS,
    params={"axis": _AXIS},
    rules=AXIS_EXISTS,
    shape=_flat_or_same,
    dtype=index,
    high=lambda x, p: max(1, _along(x, p)),
    inputs=lambda draw: (draw_tensor(draw, RANKS, NUMBERS),),
    doc="The places of the elements in order; that of equal ones is open.",
)


def _draw_count(draw: Draw, x: Any, p: Params) -> int:
    """How many of the last axis' elements of the last input."""
    last = (x[-1] if isinstance(x, tuple) else x).shape[-1]
    return draw.integer(1, max(1, last))


_K = Computed(
    "a small number", simplest=1, check=lambda value: type(value) is int and 0 < value <= LARGEST, draw=_draw_count
)
operator(
    "top_k",
    dtypes=NUMBERS,
    params={"k": _K},
    rules={"there are so many": lambda x, p: p.k <= x.shape[-1]},
    shape=lambda x, p: [(*x.shape[:-1], p.k)] * 2,
    dtype=lambda x, p: [x.dtype, "int32"],
    inputs=lambda draw: (draw_tensor(draw, RANKS, NUMBERS),),
    excluded={"sorted": "without it the order is open"},
    doc="The largest elements along the last axis, and their places.",
)


def _draw_targets(draw: Draw) -> Types:
    shape = _long(draw, 2)
    return TensorType("int32", shape[:1], high=max(1, shape[1])), TensorType(draw_dtype(draw, FLOATS), shape)


operator(
    "in_top_k",
    ranks=(1,),
    dtypes=("int32",),
    arity=(2, 2),
    one_dtype=False,
    params={"k": _K},
    rules={
        "scores of classes": lambda x, p: x[1].rank == 2 and x[1].is_float and x[1].shape[0] == x[0].shape[0],
        "targets are classes": Ours(lambda x, p: x[1].rank == 2 and 0 < (x[0].high or LARGEST) <= x[1].shape[-1]),
        "there are so many": Ours(lambda x, p: x[1].rank > 0 and p.k <= x[1].shape[-1]),
    },
    shape=lambda x, p: x[0].shape,
    dtype=truth,
    inputs=_draw_targets,
    doc="Whether the score of a target, the first input, is among the k largest.",
)

# -- looking up --------------------------------------------------------------------------------------------------------


def _draw_places(first: bool) -> Callable[[Draw], Types]:
    """Draws numbers and the limits between which they lie; `first`: the limits come first."""

    def draw_inputs(draw: Draw) -> Types:
        numbers = draw_tensor(draw, RANKS, NUMBERS)
        limits = TensorType(numbers.dtype, (draw.integer(1, 12),), high=numbers.high)
        return (limits, numbers) if first else (numbers, limits)

    return draw_inputs


operator(
    "searchsorted",
    ranks=(1,),
    output_ranks=RANKS,
    dtypes=NUMBERS,
    arity=(2, 2),
    params={"side": Choice("left", "right")},
    shape=lambda x, p: x[1].shape,
    dtype=index,
    high=lambda x, p: x[0].shape[0] + 1,
    inputs=_draw_places(first=True),
    doc="Where numbers would stand among those of the first input, which is sorted by keras.ops.sort.",
)
operator(
    "digitize",
    dtypes=NUMBERS,
    arity=(2, 2),
    rules={"limits in a row": lambda x, p: x[1].rank == 1},
    shape=lambda x, p: x[0].shape,
    dtype=index,
    high=lambda x, p: math.prod(x[1].shape) + 1,
    inputs=_draw_places(first=False),
    doc="Between which limits numbers lie; these are the second input, sorted by keras.ops.sort.",
)


def _draw_members(draw: Draw) -> Types:
    high = draw.integer(1, 9)
    return tuple(TensorType("int32", draw_shape(draw, draw.integer(1, 4)), high=high) for _ in range(2))


operator(
    "isin",
    formula=lambda x, members, invert: np.isin(x, members, invert=invert),
    dtypes=("int32",),
    arity=(2, 2),
    params={"invert": Choice(False, True)},
    shape=lambda x, p: x[0].shape,
    dtype=truth,
    inputs=_draw_members,
    excluded={"assume_unique": "a promise that inputs cannot keep"},
)

# -- counting ----------------------------------------------------------------------------------------------------------


def _draw_labels(ranks: tuple[int, ...]) -> Callable[[Draw], Types]:
    return lambda draw: (TensorType("int32", _long(draw, draw.choice(ranks)), high=draw.integer(1, 9)),)


def _labels_below(name: str) -> Mapping[str, Rule]:
    return {"all labels are counted": Ours(lambda x, p: x.high is not None and x.high <= p[name])}


operator(
    "bincount",
    formula=lambda x, minlength: np.bincount(x, minlength=minlength).astype(np.int32),
    ranks=(1,),
    dtypes=("int32",),
    params={"minlength": _size(0, lambda x: x.high or 1)},
    rules=_labels_below("minlength"),
    shape=lambda x, p: (p.minlength,),
    high=lambda x, p: math.prod(x.shape) + 1,
    inputs=_draw_labels((1,)),
    excluded={"weights": "Keras takes them as a constant only", "sparse": "no sparse tensors"},
)

_KINDS = Choice(*FLOATS, "int32", simplest="float32")


def _hot_axis(draw: Draw, x: TensorType, p: Params) -> int:
    return -1 if draw.chance(0.4) else draw.integer(0, x.rank - 1)


def _hot_shape(x: TensorType, p: Params) -> Shape:
    place = x.rank if p.axis == -1 else p.axis
    return (*x.shape[:place], p.num_classes, *x.shape[place:])


operator(
    "one_hot",
    ranks=range(1, 5),
    output_ranks=range(2, 6),
    dtypes=("int32",),
    params={
        "num_classes": _size(1, lambda x: x.high or 1),
        "axis": Computed(
            "-1 or an axis",
            simplest=-1,
            check=lambda value: type(value) is int and -1 <= value < 8,
            draw=_hot_axis,
        ),
        "dtype": _KINDS,
    },
    rules={**_labels_below("num_classes"), "axis exists": lambda x, p: p.axis < x.rank},
    shape=_hot_shape,
    dtype=lambda x, p: p.dtype,
    high=lambda x, p: 2,
    inputs=_draw_labels((1, 2, 3, 4)),
    excluded={"sparse": "no sparse tensors"},
)
operator(
    "multi_hot",
    ranks=(1, 2),
    dtypes=("int32",),
    params={"num_classes": _size(1, lambda x: x.high or 1), "dtype": _KINDS},
    rules=_labels_below("num_classes"),
    shape=lambda x, p: (*x.shape[:-1], p.num_classes),
    dtype=lambda x, p: p.dtype,
    high=lambda x, p: 2,
    inputs=_draw_labels((1, 2)),
    excluded={"axis": "what another one means is not documented", "sparse": "no sparse tensors"},
    doc="Which labels there are in a row.",
)
operator(
    "histogram",
    ranks=(1,),
    params={"bins": Choice(8, 1, 2, 4, 16), "range": Choice((-2.0, 2.0), (0.0, 1.0), (-8.0, 8.0))},
    shape=lambda x, p: [(p.bins,), (p.bins + 1,)],
    inputs=lambda draw: (TensorType(draw_dtype(draw, FLOATS), _long(draw, 1)),),
    doc="How many numbers lie in each of some equal parts of a range, and the limits of these.",
)

# -- segments ----------------------------------------------------------------------------------------------------------


def _draw_segments(draw: Draw) -> Types:
    data = TensorType(draw_dtype(draw, FLOATS), _long(draw, draw.choice(RANKS)))
    return data, TensorType("int32", data.shape[:1], high=draw.integer(1, 4))


def segments(name: str) -> LayerSpec:
    """Declare a reduction of all rows of the first input that have the same number in the second one."""
    return operator(
        f"segment_{name}",
        arity=(2, 2),
        one_dtype=False,
        params={"num_segments": _size(1, lambda x: x[1].high or 1)},
        rules={
            "a number for each row": lambda x, p: x[1].shape == x[0].shape[:1] and x[1].dtype == "int32",
            "all segments are there": Ours(lambda x, p: 0 < (x[1].high or LARGEST + 1) <= p.num_segments),
        },
        shape=lambda x, p: (p.num_segments, *x[0].shape[1:]),
        inputs=_draw_segments,
        excluded={"sorted": "a promise that inputs cannot keep"},
    )


for _name in ("sum", "max", "min", "prod"):
    segments(_name)
