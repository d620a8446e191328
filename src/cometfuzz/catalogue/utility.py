"""Utility nodes (lower case): the graph's inputs and what repairs a graph. They never count as covered.

They must neither mask nor alarm: a cast to int32 takes NaN as 0 and clips; float64 never goes to half precision in
one step, because libraries round twice there; pad constants are multiples of 1/4. All of them drop a Keras mask.
"""

import math

from cometfuzz.catalogue.spaces import BOOLEAN_FALSE, Choice, Computed, Floats, Ints, Optional
from cometfuzz.catalogue.spec import layer
from cometfuzz.ir.graph import INPUT, Params
from cometfuzz.ir.types import DTYPES, MAX_RANK

_RANKS = range(MAX_RANK + 1)


def _is_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(type(size) is int and 0 <= size <= 2**24 for size in value)


def _is_pairs(value: object) -> bool:
    return isinstance(value, tuple) and all(_is_shape(pair) and len(pair) == 2 for pair in value)


layer(
    INPUT,
    kind="utility",
    ranks=_RANKS,
    dtypes=DTYPES,
    arity=(0, 0),
    params={
        "dtype": Choice(*DTYPES, simplest="float32"),
        "shape": Computed("a shape with batch", simplest=(1, 1), check=_is_shape, draw=lambda draw, x, p: (1, 1)),
        "high": Optional(Ints(1, 64)),
        "zero_steps": BOOLEAN_FALSE,
    },
    rules={
        "only int32 has a bound": lambda x, p: (p.high is not None) == (p.dtype == "int32"),
        "zero steps need steps": lambda x, p: (
            not p.zero_steps or (len(p.shape) >= 3 and p.dtype not in ("bool", "int32"))
        ),
        "rank": lambda x, p: len(p.shape) <= MAX_RANK,
        "size": lambda x, p: math.prod(p.shape) <= 2**28,
    },
    shape=lambda x, p: p.shape,
    dtype=lambda x, p: p.dtype,
    high=lambda x, p: p.high,
    doc="An input of the graph; zero_steps sets about a third of the steps (axis 1) to zero, for masks.",
)

layer(
    "cast",
    kind="utility",
    ranks=_RANKS,
    dtypes=DTYPES,
    params={"dtype": Choice(*DTYPES, simplest="float32"), "high": Optional(Ints(1, 64))},
    rules={
        "only int32 has a bound": lambda x, p: (p.high is not None) == (p.dtype == "int32"),
        "no double rounding": lambda x, p: not (x.dtype == "float64" and p.dtype in ("float16", "bfloat16")),
        "between the half precisions through float32": lambda x, p: {x.dtype, p.dtype} != {"float16", "bfloat16"},
    },
    shape=lambda x, p: x.shape,
    dtype=lambda x, p: p.dtype,
    high=lambda x, p: p.high,
    doc="Another dtype; to int32, NaN becomes 0 and values are clipped to [0, high).",
)

layer(
    "pad",
    kind="utility",
    ranks=_RANKS,
    dtypes=DTYPES[:-1],
    params={
        "paddings": Computed("(before, after) for each axis", simplest=(), check=_is_pairs, draw=lambda draw, x, p: ()),
        "value": Floats(-8, 8, 0, step=0.25),
    },
    rules={
        "one pair for each axis": lambda x, p: len(p.paddings) == x.rank,
        "value is a multiple of 1/4": lambda x, p: p.value * 4 == int(p.value * 4),
        "value fits the dtype": lambda x, p: x.is_float or p.value == int(p.value),
    },
    shape=lambda x, p: tuple(n + before + after for n, (before, after) in zip(x.shape, p.paddings, strict=True)),
    doc="A constant border.",
)

layer(
    "crop",
    kind="utility",
    ranks=_RANKS,
    dtypes=DTYPES,
    params={
        "crops": Computed("(before, after) for each axis", simplest=(), check=_is_pairs, draw=lambda draw, x, p: ())
    },
    rules={
        "one pair for each axis": lambda x, p: len(p.crops) == x.rank,
        "crops fit": lambda x, p: all(sum(pair) <= n for n, pair in zip(x.shape, p.crops, strict=False)),
    },
    shape=lambda x, p: tuple(n - before - after for n, (before, after) in zip(x.shape, p.crops, strict=True)),
    high=lambda x, p: x.high,
    doc="The inner part.",
)

layer(
    "expand",
    kind="utility",
    ranks=range(MAX_RANK),
    dtypes=DTYPES,
    params={"axis": Ints(0, MAX_RANK - 1, limit=MAX_RANK - 1)},
    rules={"axis exists": lambda x, p: p.axis <= x.rank},
    shape=lambda x, p: (*x.shape[: p.axis], 1, *x.shape[p.axis :]),
    high=lambda x, p: x.high,
    doc="A new axis of size 1.",
)

layer(
    "squeeze",
    kind="utility",
    ranks=range(1, MAX_RANK + 1),
    dtypes=DTYPES,
    params={"axis": Ints(0, MAX_RANK - 1, limit=MAX_RANK - 1)},
    rules={"axis has size 1": lambda x, p: p.axis < x.rank and x.shape[p.axis] == 1},
    shape=lambda x, p: (*x.shape[: p.axis], *x.shape[p.axis + 1 :]),
    high=lambda x, p: x.high,
    doc="One axis of size 1 less.",
)

layer(
    "reshape",
    kind="utility",
    ranks=_RANKS,
    dtypes=DTYPES,
    params={"shape": Computed("a shape with batch", simplest=(), check=_is_shape, draw=lambda draw, x, p: x.shape)},
    rules={"same number of elements": lambda x, p: math.prod(p.shape) == x.elements},
    shape=lambda x, p: p.shape,
    high=lambda x, p: x.high,
    doc="The same elements in another shape; unlike Reshape it may change the batch.",
)

SPECIAL_VALUES = ("nan", "inf", "-inf", "zero")

layer(
    "special",
    kind="utility",
    ranks=range(1, MAX_RANK + 1),
    params={"value": Choice(*SPECIAL_VALUES), "elements": Choice("first", "all")},
    shape=lambda x, p: x.shape,
    doc="A special value in place of the first element or of all of them.",
)

layer(
    "scale",
    kind="utility",
    ranks=range(1, MAX_RANK + 1),
    params={"value": Choice(*SPECIAL_VALUES)},
    shape=lambda x, p: x.shape,
    doc="Every element times a special value.",
)

SPECIAL_NODES = ("special", "scale")
"""The utilities that bring in a special value."""


def special_value(p: Params) -> float:
    """The number that such a utility brings in."""
    return 0.0 if p.value == "zero" else float(p.value)
