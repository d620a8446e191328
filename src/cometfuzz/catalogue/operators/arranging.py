"""Operators that bring the elements of one tensor into another shape or order.

`repeating` has those that repeat them, pad, or keep a diagonal, `joining` those of several tensors or results,
`picking` those that choose by an index, `blocks` those that move blocks of an image or pieces of a sequence.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    NUMBERS,
    RANKS,
    Types,
    axes_of,
    axes_space,
    axis_space,
    draw_tensor,
    largest_bound,
    many,
    operator,
)
from cometfuzz.catalogue.spaces import Computed, Ints
from cometfuzz.catalogue.spec import LayerSpec, Rule, Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import MAX_RANK, TensorType

ANYTHING = (*NUMBERS, "bool")


def moving(
    name: str,
    formula: Callable[..., Any] | None,
    *,
    shape: Callable[[Any, Any], Shape | list[Shape]],
    ranks: Sequence[int] = RANKS,
    dtypes: Sequence[str] = ANYTHING,
    inputs: Callable[[Draw], Types] | None = None,
    **block: Any,
) -> LayerSpec:
    """Declare an operator whose result has no element but those of its inputs, and zeros."""
    return operator(
        name,
        formula=formula,
        shape=shape,
        ranks=ranks,
        dtypes=dtypes,
        inputs=inputs or (lambda draw: (draw_tensor(draw, ranks, dtypes),)),
        **{"high": largest_bound, **block},
    )


def is_ints(value: object, low: int, high: int, lengths: Sequence[int]) -> bool:
    """Whether a value is a tuple of integers from low to high, of one of these lengths."""
    return (
        isinstance(value, tuple)
        and len(value) in lengths
        and all(type(each) is int and low <= each <= high for each in value)
    )


def named_axes_exist(*names: str) -> Rule:
    """The rule that parameters name different axes of the first input."""

    def exist(x: Any, p: Params) -> bool:
        rank = many(x)[0].rank
        found = [axis for name in names for axis in axes_of(p[name], rank)]
        return all(0 <= axis < rank for axis in found) and len(set(found)) == len(found)

    return exist


# -- shapes ------------------------------------------------------------------------------------------------------------


def _draw_newshape(draw: Draw, x: TensorType, p: Params) -> Shape:
    """The elements spread over one to five axes; now and then one of them is left to be inferred."""
    if x.elements == 0:
        return tuple(draw.shuffled(x.shape))
    axes, rest, factor = [1] * draw.integer(1, 5), x.elements, 2
    while rest > 1:
        while rest % factor:
            factor += 1
        axes[draw.integer(0, len(axes) - 1)] *= factor
        rest //= factor
    if draw.chance(0.3):
        axes[draw.integer(0, len(axes) - 1)] = -1
    return tuple(axes)


def _newshape(x: TensorType, p: Params) -> Shape:
    """The shape with -1 resolved; 0 where it cannot be."""
    known = math.prod(size for size in p.newshape if size != -1)
    return tuple((x.elements // known if known else 0) if size == -1 else size for size in p.newshape)


moving(
    "reshape",
    lambda x, newshape: np.reshape(x, newshape),
    params={
        "newshape": Computed(
            "sizes, one of which may be -1",
            simplest=(-1,),
            check=lambda value: is_ints(value, -1, 2**24, range(MAX_RANK + 1)) and value.count(-1) <= 1,
            draw=_draw_newshape,
            wrong=((-1, -1), (-2,)),
        )
    },
    rules={
        "same number of elements": lambda x, p: math.prod(_newshape(x, p)) == x.elements,
        "only one size can be inferred": lambda x, p: -1 not in p.newshape or x.elements > 0,
    },
    shape=_newshape,
    output_ranks=range(MAX_RANK + 1),
    doc="The elements in another shape, row by row.",
)
moving("ravel", np.ravel, shape=lambda x, p: (x.elements,), output_ranks=(1,))
moving("copy", np.copy, shape=lambda x, p: x.shape)


def _expanded(x: TensorType, p: Params) -> Shape:
    rank = x.rank + (len(p.axis) if isinstance(p.axis, tuple) else 1)
    new, old = axes_of(p.axis, rank), iter(x.shape)
    return tuple(1 if place in new else next(old) for place in range(rank))


def _draw_new_axes(draw: Draw, x: TensorType, p: Params) -> int | tuple[int, ...]:
    if draw.chance(0.6):
        return draw.integer(-x.rank - 1, x.rank)
    count = draw.integer(1, 2)
    chosen = draw.shuffled(range(x.rank + count))[:count]
    return tuple(axis - x.rank - count if draw.chance(0.3) else axis for axis in chosen)


def _new_axes_exist(x: TensorType, p: Params) -> bool:
    count = len(p.axis) if isinstance(p.axis, tuple) else 1
    found = axes_of(p.axis, x.rank + count)
    return all(0 <= axis < x.rank + count for axis in found) and len(set(found)) == count


moving(
    "expand_dims",
    lambda x, axis: np.expand_dims(x, axis),
    params={
        "axis": Computed(
            "places of new axes in the result",
            simplest=-1,
            check=lambda value: is_ints(value if isinstance(value, tuple) else (value,), -8, 7, (1, 2)),
            draw=_draw_new_axes,
        )
    },
    rules={"axes exist": _new_axes_exist},
    shape=_expanded,
    output_ranks=range(2, 8),
)


def draw_with_ones(draw: Draw) -> Types:
    kind = draw_tensor(draw, RANKS, ANYTHING)
    shape = tuple(1 if draw.chance(0.5) else size for size in kind.shape)
    return (TensorType(kind.dtype, shape, high=kind.high),)


def _draw_axes_of_one(draw: Draw, x: TensorType, p: Params) -> Any:
    ones = [axis - x.rank * draw.integer(0, 1) for axis, size in enumerate(x.shape) if size == 1]
    if not ones or draw.chance(0.3):
        return None
    return draw.choice(ones) if draw.chance(0.5) else tuple(draw.shuffled(ones)[: draw.integer(1, len(ones))])


def _squeezed(x: TensorType, p: Params) -> Shape:
    gone = axes_of(p.axis, x.rank)
    return tuple(size for axis, size in enumerate(x.shape) if size != 1 or axis not in gone)


_SQUEEZED_AXES = axes_space()
moving(
    "squeeze",
    lambda x, axis: np.squeeze(x, axis),
    params={
        "axis": Computed(
            "axes of size 1, or null for all of them",
            simplest=None,
            check=lambda value: _SQUEEZED_AXES.problem(value) is None,
            draw=_draw_axes_of_one,
        )
    },
    rules={
        **AXIS_EXISTS,
        "axes have size 1": lambda x, p: (
            p.axis is None or all(x.shape[axis] == 1 for axis in axes_of(p.axis, x.rank) if 0 <= axis < x.rank)
        ),
    },
    shape=_squeezed,
    inputs=draw_with_ones,
    output_ranks=range(6),
)

# -- axes and order ----------------------------------------------------------------------------------------------------

moving(
    "transpose",
    lambda x, axes: np.transpose(x, axes),
    params={
        "axes": Computed(
            "a permutation of the axes, or null to reverse them",
            simplest=None,
            check=lambda value: value is None or (is_ints(value, 0, 7, range(1, 9)) and len(set(value)) == len(value)),
            draw=lambda draw, x, p: None if draw.chance(0.25) else tuple(draw.shuffled(range(x.rank))),
            wrong=((0, 0),),
        )
    },
    rules={
        "one entry for each axis": lambda x, p: p.axes is None or sorted(p.axes) == list(range(x.rank)),
    },
    shape=lambda x, p: x.shape[::-1] if p.axes is None else tuple(x.shape[axis] for axis in p.axes),
)


def _swapped(x: TensorType, p: Params) -> Shape:
    return np.swapaxes(np.empty(x.shape, bool), p.axis1, p.axis2).shape


TWO_AXES = {"axis1": axis_space(0), "axis2": axis_space(1)}
moving(
    "swapaxes",
    lambda x, axis1, axis2: np.swapaxes(x, axis1, axis2),
    params=TWO_AXES,
    rules={
        "axes exist": lambda x, p: all(-x.rank <= axis < x.rank for axis in (p.axis1, p.axis2)),
    },
    shape=_swapped,
)


def _draw_destination(draw: Draw, x: TensorType, p: Params) -> Any:
    rank = x.rank
    if not isinstance(p.source, tuple):
        return draw.integer(-rank, rank - 1)
    return tuple(
        axis - rank if draw.chance(0.3) else axis for axis in draw.shuffled(range(rank))[: min(rank, len(p.source))]
    )


moving(
    "moveaxis",
    lambda x, source, destination: np.moveaxis(x, source, destination),
    params={
        "source": axes_space(simplest=0, none=False),
        "destination": Computed(
            "an axis, or as many as there are sources",
            simplest=-1,
            check=lambda value: axes_space(0, none=False).problem(value) is None,
            draw=_draw_destination,
        ),
    },
    rules={
        "sources exist and differ": named_axes_exist("source"),
        "destinations exist and differ": named_axes_exist("destination"),
        "as many destinations as sources": lambda x, p: (
            len(axes_of(p.source, x.rank)) == len(axes_of(p.destination, x.rank))
            and isinstance(p.source, tuple) == isinstance(p.destination, tuple)
        ),
    },
    shape=lambda x, p: np.moveaxis(np.empty(x.shape, bool), p.source, p.destination).shape,
)
moving(
    "flip",
    lambda x, axis: np.flip(x, axis),
    params={"axis": axes_space()},
    rules=AXIS_EXISTS,
    shape=lambda x, p: x.shape,
)
moving("fliplr", np.fliplr, ranks=RANKS[1:], shape=lambda x, p: x.shape)
moving("flipud", np.flipud, shape=lambda x, p: x.shape)
moving(
    "roll",
    lambda x, shift, axis: np.roll(x, shift, axis),
    params={"shift": Ints(-9, 9, 1), "axis": axis_space(None, none=True)},
    rules=AXIS_EXISTS,
    shape=lambda x, p: x.shape,
)


def _draw_plane(draw: Draw, x: TensorType, p: Params) -> tuple[int, int]:
    first, second = draw.shuffled(range(x.rank))[:2]
    return first, second - x.rank if draw.chance(0.3) else second


moving(
    "rot90",
    lambda x, k, axes: np.rot90(x, k, axes),
    ranks=RANKS[1:],
    params={
        "k": Ints(-4, 5, 1),
        "axes": Computed(
            "two axes", simplest=(0, 1), check=lambda value: is_ints(value, -8, 7, (2,)), draw=_draw_plane
        ),
    },
    rules={"axes exist and differ": named_axes_exist("axes")},
    shape=lambda x, p: np.rot90(np.empty(x.shape, bool), p.k, p.axes).shape,
)
