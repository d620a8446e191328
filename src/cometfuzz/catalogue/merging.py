"""Merging layers: elementwise over several tensors, concatenation, and the batchwise dot product.

A Keras mask that reaches them has shape (batch, steps), so masked inputs have rank 3.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from cometfuzz.catalogue.spaces import BOOLEAN_FALSE, Computed
from cometfuzz.catalogue.spec import NO_FLOATS, Ours, Rule, Shape, draw_dtype, draw_shape, layer, unbounded
from cometfuzz.draw import Draw
from cometfuzz.ir.types import FLOATS, TensorType

Types = tuple[TensorType, ...]
RANKS = range(2, 7)
LARGEST_INT = 2**31 - 1


def merged_shape(x: Types) -> Shape | None:
    """The common shape: the batch is the same, the other axes broadcast from the right; None if they do not."""
    if any(kind.rank < 1 or kind.shape[0] != x[0].shape[0] for kind in x):
        return None
    sizes: list[int] = []
    rank = max(kind.rank for kind in x)
    for axis in range(1, rank):
        found = {kind.shape[-axis] for kind in x if kind.rank > axis} - {1}
        if len(found) > 1:
            return None
        sizes.append(found.pop() if found else 1)
    return (x[0].shape[0], *reversed(sizes))


def draw_merged(dtypes: Sequence[str], most: int) -> Callable[[Draw], Types]:
    """Draws tensors to be merged elementwise: mostly of one shape, else some axes of some of them broadcast."""

    def types(draw: Draw) -> Types:
        dtype, shape = draw_dtype(draw, dtypes), draw_shape(draw, draw.choice(RANKS))
        shapes = [shape] * draw.integer(2, most)
        if draw.chance(0.4):
            shapes = [_narrowed(draw, shape) for shape in shapes]
        return tuple(_typed(draw, dtype, shape) for shape in shapes)

    return types


def _narrowed(draw: Draw, shape: Shape) -> Shape:
    rest = tuple(1 if draw.chance(0.25) else size for size in shape[1:])
    return (shape[0], *rest[draw.integer(0, len(rest) - 1) if draw.chance(0.3) else 0 :])


def _typed(draw: Draw, dtype: str, shape: Shape) -> TensorType:
    """A second or later input is masked as often as conformance masks a first one."""
    masked = dtype in FLOATS and len(shape) == 3 and draw.chance(0.15)
    return TensorType(dtype, shape, masked, draw.integer(1, 8) if dtype == "int32" else None)


def same_dtype(x: Types, p: Any) -> bool:
    return all(kind.dtype == x[0].dtype for kind in x)


def masked_rank(x: Types, p: Any) -> bool:
    return all(kind.rank == 3 for kind in x if kind.masked)


COMMON: dict[str, Rule] = {"inputs have one dtype": Ours(same_dtype), "masked inputs have rank 3": masked_rank}


def _bounded(bound: Callable[[list[int]], int]) -> Callable[[Types, Any], int | None]:
    """The exclusive bound of an int result, where all inputs have one and it does not overflow."""

    def high(x: Types, p: Any) -> int | None:
        highs = [kind.high for kind in x if kind.high is not None]
        if len(highs) < len(x):
            return None
        value = bound(highs)
        return value if value <= LARGEST_INT else None

    return high


_WITH_INTS = (*FLOATS, "int32")

for _name, _most, _dtypes, _high, _doc in (
    ("Add", 4, _WITH_INTS, _bounded(lambda highs: sum(high - 1 for high in highs) + 1), "The sum"),
    ("Subtract", 2, _WITH_INTS, unbounded, "The first less the second"),
    (
        "Multiply",
        4,
        _WITH_INTS,
        _bounded(lambda highs: math.prod(high - 1 for high in highs) + 1),
        "The product",
    ),
    ("Average", 4, FLOATS, unbounded, "The mean"),
    ("Maximum", 4, _WITH_INTS, _bounded(max), "The greatest"),
    ("Minimum", 4, _WITH_INTS, _bounded(min), "The least"),
):
    layer(
        _name,
        as_floats=NO_FLOATS,
        ranks=RANKS,
        dtypes=_dtypes,
        arity=(2, _most),
        rules={**COMMON, "shapes broadcast": lambda x, p: merged_shape(x) is not None},
        shape=lambda x, p: merged_shape(x) or (),
        mask=lambda x, p: all(kind.masked for kind in x),
        high=_high,
        inputs=draw_merged(_dtypes, _most),
        doc=f"{_doc} of the inputs, element by element.",
    )


def _concatenable(x: Types, p: Any) -> bool:
    """Whether the shapes agree but for the axis, which exists."""
    rank = x[0].rank
    if not -rank <= p.axis < rank or any(kind.rank != rank for kind in x):
        return False
    axis = p.axis % rank
    return all(
        size == first
        for kind in x
        for number, (size, first) in enumerate(zip(kind.shape, x[0].shape, strict=True))
        if number != axis
    )


def _concatenated(x: Types, p: Any) -> Shape:
    axis = p.axis % x[0].rank
    return (*x[0].shape[:axis], sum(kind.shape[axis] for kind in x), *x[0].shape[axis + 1 :])


def _draw_concatenable(draw: Draw) -> Types:
    dtype, shape = draw_dtype(draw, _WITH_INTS), draw_shape(draw, draw.choice(RANKS))
    axis = draw.integer(1, len(shape) - 1)
    return tuple(
        _typed(draw, dtype, (*shape[:axis], size, *shape[axis + 1 :]))
        for size in (shape[axis], *(draw.integer(1, 5) for _ in range(draw.integer(1, 3))))
    )


def _draw_axis(draw: Draw, x: Types, p: Any) -> int:
    """An axis along which the inputs fit; if only one does, that one, counted from either end."""
    differing = [axis for axis in range(x[0].rank) if len({kind.shape[axis : axis + 1] for kind in x}) > 1]
    axis = draw.choice(differing) if differing else draw.integer(0, x[0].rank - 1)
    return axis if draw.chance(0.5) else axis - x[0].rank


layer(
    "Concatenate",
    as_floats=NO_FLOATS,
    ranks=RANKS,
    dtypes=_WITH_INTS,
    arity=(2, 4),
    params={
        "axis": Computed(
            "an axis along which the inputs fit",
            simplest=-1,
            check=lambda value: type(value) is int and -8 <= value < 8,
            draw=_draw_axis,
        )
    },
    rules={**COMMON, "shapes agree but for the axis": _concatenable},
    shape=_concatenated,
    mask=lambda x, p: any(kind.masked for kind in x),
    high=_bounded(max),
    inputs=_draw_concatenable,
    doc="The inputs one after the other along an axis.",
)


def dot_axes(x: Types, p: Any) -> tuple[int, int] | None:
    """The two axes that are summed over, as numbers from 0; None if they do not exist."""
    given = p.axes if isinstance(p.axes, tuple) else (p.axes, p.axes)
    if any(not -kind.rank <= axis < kind.rank for axis, kind in zip(given, x, strict=True)):
        return None
    return given[0] % x[0].rank, given[1] % x[1].rank


def _dot_fits(x: Types, p: Any) -> bool:
    axes = dot_axes(x, p)
    return axes is not None and 0 not in axes and x[0].shape[axes[0]] == x[1].shape[axes[1]]


def _dotted(x: Types, p: Any) -> Shape:
    first, second = dot_axes(x, p) or (1, 1)
    rest = (*x[0].shape[1:first], *x[0].shape[first + 1 :], *x[1].shape[1:second], *x[1].shape[second + 1 :])
    return (x[0].shape[0], *(rest or (1,)))


def _draw_dotted(draw: Draw) -> Types:
    dtype = draw_dtype(draw, FLOATS)
    first = draw_shape(draw, draw.integer(2, 4), high=5)
    second = [first[0], *(draw.integer(1, 5) for _ in range(draw.integer(1, 3)))]
    second[draw.integer(1, len(second) - 1)] = first[draw.integer(1, len(first) - 1)]
    return _typed(draw, dtype, first), _typed(draw, dtype, tuple(second))


def _is_axes(value: object) -> bool:
    axes = value if isinstance(value, tuple) and len(value) == 2 else (value,)
    return all(type(axis) is int and -8 <= axis < 8 for axis in axes)


def _draw_axes(draw: Draw, x: Types, p: Any) -> int | tuple[int, int]:
    """A pair of axes of equal size; a single number where one stands for both."""
    pairs = [
        (first, second)
        for first in range(1, x[0].rank)
        for second in range(1, x[1].rank)
        if x[0].shape[first] == x[1].shape[second]
    ]
    first, second = draw.choice(pairs or [(1, 1)])
    if first == second and draw.chance(0.5):
        return first
    low, high = first - x[0].rank, second - x[1].rank
    if low == high and draw.chance(0.5):
        return low
    return (first if draw.chance(0.5) else low), (second if draw.chance(0.5) else high)


layer(
    "Dot",
    ranks=RANKS,
    arity=(2, 2),
    params={
        "axes": Computed("an axis, or one of each input", simplest=-1, check=_is_axes, draw=_draw_axes),
        "normalize": BOOLEAN_FALSE,
    },
    rules={
        **COMMON,
        "one batch": lambda x, p: x[1].rank >= 2 and x[0].shape[0] == x[1].shape[0],
        "axes have one size and spare the batch": _dot_fits,
    },
    output_ranks=range(2, 9),
    shape=_dotted,
    inputs=_draw_dotted,
    doc="The sum of products over one axis of each input, for each element of the batch.",
)
