"""Operators: functions of keras.ops as nodes of a graph, a block each, or a line where NumPy has the meaning.

An operator is declared as a layer is (`catalogue.spec.layer`), and is drawn, typed, mutated, judged and written alike.
It has no weights, takes tensors without a Keras mask, and belongs to Keras 3. Its name is "ops." and its name in
keras.ops; its parameters are the arguments that are no tensors. How a call is written where it is not
`ops.name(*tensors, **parameters)` is said in `routes/calls.py`.

Integers are small: what is computed with them must stay far from where int32 ends, so a tensor of them has a bound
(`TensorType.high`) or comes from one that has.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.spaces import Choice, Computed, Space
from cometfuzz.catalogue.spec import (
    KERAS3,
    OPERATOR,
    LayerSpec,
    Ours,
    Rule,
    Shape,
    draw_shape,
    layer,
    one_input,
    unbounded,
)
from cometfuzz.draw import Draw
from cometfuzz.ir import graph
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

RANKS = range(1, 6)
NUMBERS = (*FLOATS, "int32")
LARGEST = 2**20
"""The largest bound of integers that are computed with: sums and products of a few of them are still exact."""

Types = tuple[TensorType, ...]


def many(x: Any) -> Types:
    """The types of all inputs, also where there is one."""
    return x if isinstance(x, tuple) else (x,)


def floating(x: Any, p: Params) -> str:
    """The dtype of a result that is no integer, as Keras has it: that of the inputs, or float32."""
    dtype = many(x)[0].dtype
    return dtype if dtype in FLOATS else "float32"


def truth(x: Any, p: Params) -> str:
    return "bool"


def index(x: Any, p: Params) -> str:
    return "int32"


def draw_dtype(draw: Draw, dtypes: Sequence[str]) -> str:
    """A dtype; float64 a sixteenth as often as another: on two backends Keras takes what most operators make of it for
    float32, so nearly every draw would show the same defect again."""
    return draw.choice([dtype for dtype in dtypes for _ in range(1 if dtype == "float64" else 16)])


def operator(
    name: str,
    *,
    shape: Callable[[Any, Any], Shape | list[Shape]],
    ranks: Sequence[int] = RANKS,
    dtypes: Sequence[str] = FLOATS,
    rules: Mapping[str, Rule] | None = None,
    one_dtype: bool = True,
    inputs: Callable[[Draw], Types] | None = None,
    doc: str = "",
    **block: Any,
) -> LayerSpec:
    """Declare an operator; see `catalogue.spec.layer`. one_dtype: whether all inputs must have the same dtype."""
    ours: dict[str, Rule] = {"no mask arrives": Ours(lambda x, p: not any(kind.masked for kind in many(x)))}
    if one_dtype and block.get("arity", (1, 1)) != (1, 1):
        ours["all inputs have one dtype"] = Ours(lambda x, p: len({kind.dtype for kind in x}) == 1)
    return layer(
        f"{graph.OPERATOR}{name}",
        kind=OPERATOR,
        libraries=(KERAS3,),
        ranks=ranks,
        dtypes=dtypes,
        rules={**ours, **(rules or {})},
        shape=shape,
        doc=doc or f"keras.ops.{name}, as NumPy has it.",
        inputs=inputs or one_input(ranks, dtypes, draw_dtype),
        **block,
    )


# -- several inputs that are broadcast ---------------------------------------------------------------------------------


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that several are broadcast to; None if they are not."""
    rank = max(map(len, shapes))
    sizes = []
    for axis in range(-rank, 0):
        seen = {each[axis] for each in shapes if len(each) >= -axis} - {1}
        if len(seen) > 1:
            return None
        sizes.append(seen.pop() if seen else 1)
    return tuple(sizes)


def broadcast_shape(x: Types, p: Params) -> Shape:
    """The shape of an elementwise result; only asked for where the inputs can be broadcast."""
    return broadcast(*(kind.shape for kind in x)) or ()


BROADCASTS: Mapping[str, Rule] = {
    "shapes can be broadcast": lambda x, p: broadcast(*(kind.shape for kind in x)) is not None
}


def draw_broadcast(count: int, dtypes: Sequence[str]) -> Callable[[Draw], Types]:
    """Draws several inputs of one dtype: mostly of one shape, else with sizes of 1 or fewer axes here and there."""

    def draw_inputs(draw: Draw) -> Types:
        dtype, whole = draw_dtype(draw, dtypes), draw_shape(draw, draw.integer(1, 5))
        return tuple(_bounded(draw, dtype, _narrowed(draw, whole)) for _ in range(count))

    return draw_inputs


def _narrowed(draw: Draw, shape: Shape) -> Shape:
    if draw.chance(0.6):
        return shape
    kept = shape[draw.integer(0, len(shape) - 1) :] if draw.chance(0.5) else shape
    return tuple(1 if draw.chance(0.4) else size for size in kept)


def draw_tensor(draw: Draw, ranks: Sequence[int], dtypes: Sequence[str]) -> TensorType:
    """One input of any small shape."""
    return _bounded(draw, draw_dtype(draw, dtypes), draw_shape(draw, draw.choice(ranks)))


def _bounded(draw: Draw, dtype: str, shape: Shape) -> TensorType:
    return TensorType(dtype, shape, high=draw.integer(1, 9) if dtype == "int32" else None)


SMALL: Mapping[str, Rule] = {
    "integers are small": Ours(
        lambda x, p: all(kind.dtype != "int32" or (kind.high or LARGEST + 1) <= LARGEST for kind in many(x))
    )
}
"""For what computes with integers: they have a bound."""


def largest_bound(x: Any, p: Params) -> int | None:
    """The bound of what is no larger than the largest of some integers."""
    bounds = [kind.high for kind in many(x) if kind.dtype == "int32"]
    return None if None in bounds else max((bound for bound in bounds if bound is not None), default=None)


def elementwise(
    name: str,
    formula: Callable[..., Any] | None,
    *,
    count: int = 1,
    inputs: Callable[[Draw], Types] | None = None,
    dtypes: Sequence[str] = FLOATS,
    dtype: Callable[[Any, Any], str | list[str]] | None = None,
    high: Callable[[Any, Any], int | None] = unbounded,
    rules: Mapping[str, Rule] | None = None,
    **block: Any,
) -> LayerSpec:
    """Declare an operator that has a result for each element, or for elements of `count` tensors that are broadcast."""
    if inputs is None:
        inputs = draw_broadcast(count, dtypes) if count > 1 else lambda draw: (draw_tensor(draw, RANKS, dtypes),)
    return operator(
        name,
        formula=formula,
        dtypes=dtypes,
        dtype=dtype,
        high=high,
        arity=(count, count),
        rules={**(BROADCASTS if count > 1 else {}), **(rules or {})},
        shape=broadcast_shape if count > 1 else lambda x, p: x.shape,
        inputs=inputs,
        **block,
    )


# -- axes --------------------------------------------------------------------------------------------------------------


def _is_axis(value: object) -> bool:
    return type(value) is int and -8 <= value < 8


def axis_space(simplest: int | None = -1, none: bool = False) -> Computed:
    """One axis of the first input, counted from either end; null, if allowed, is all of them."""

    def draw_axis(draw: Draw, x: Any, p: Params) -> int | None:
        rank = many(x)[0].rank
        return None if none and draw.chance(0.2) else draw.integer(-rank, rank - 1)

    def check(value: object) -> bool:
        return (none and value is None) or _is_axis(value)

    text = "an axis" + (", or null for all" if none else "")
    return Computed(text, simplest=simplest, check=check, draw=draw_axis)


def axes_space(simplest: Any = None, none: bool = True) -> Computed:
    """One axis, several different ones, or null for all of them."""

    def draw_axes(draw: Draw, x: Any, p: Params) -> Any:
        rank = many(x)[0].rank
        if none and draw.chance(0.25):
            return None
        if draw.chance(0.5):
            return draw.integer(-rank, rank - 1)
        chosen = draw.shuffled(range(rank))[: draw.integer(1, rank)]
        return tuple(axis - rank if draw.chance(0.3) else axis for axis in chosen)

    def check(value: object) -> bool:
        if value is None:
            return none
        return _is_axis(value) or (isinstance(value, tuple) and len(value) > 0 and all(map(_is_axis, value)))

    return Computed(
        "an axis, several of them" + (", or null for all" if none else ""),
        simplest=simplest,
        check=check,
        draw=draw_axes,
    )


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as parameters name them, counted from the front; all of them for null."""
    if axis is None:
        return tuple(range(rank))
    return tuple(
        each % rank if -rank <= each < rank else each for each in (axis if isinstance(axis, tuple) else (axis,))
    )


def axes_exist(x: Any, p: Params) -> bool:
    """Whether the axes are those of the first input, each named once."""
    rank = many(x)[0].rank
    found = axes_of(p.axis, rank)
    return all(0 <= each < rank for each in found) and len(set(found)) == len(found)


def reduced(shape: Shape, axis: Any, keepdims: bool) -> Shape:
    """The shape after a reduction along axes."""
    gone = axes_of(axis, len(shape))
    if keepdims:
        return tuple(1 if place in gone else size for place, size in enumerate(shape))
    return tuple(size for place, size in enumerate(shape) if place not in gone)


def reduced_size(shape: Shape, axis: Any) -> int:
    """How many elements go into one of a reduction; axes that there are not count for nothing."""
    return math.prod(shape[each] for each in axes_of(axis, len(shape)) if 0 <= each < len(shape))


AXIS_EXISTS: Mapping[str, Rule] = {"axes exist": axes_exist}
KEEPDIMS: Space = Choice(False, True)
