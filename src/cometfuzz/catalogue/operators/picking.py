"""Operators that choose elements by indices, slices or conditions, or put elements there."""

import math
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import (
    NUMBERS,
    RANKS,
    SMALL,
    Types,
    axes_of,
    axis_space,
    draw_dtype,
    draw_tensor,
    operator,
)
from cometfuzz.catalogue.operators.arranging import ANYTHING, is_ints, moving
from cometfuzz.catalogue.operators.elementwise import NOTATION
from cometfuzz.catalogue.spaces import Choice, Computed
from cometfuzz.catalogue.spec import Ours, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

# -- by a tensor of indices --------------------------------------------------------------------------------------------


def _size(x: TensorType, axis: int | None) -> int:
    """How many places an axis has that an index may name; 0 if there is no such axis."""
    if axis is None:
        return x.elements
    return x.shape[axis] if -x.rank <= axis < x.rank else 0


def indices_below(kind: TensorType, size: int) -> bool:
    """Whether a tensor has indices of places that are there."""
    return kind.dtype == "int32" and kind.high is not None and kind.high <= size


def _first_high(x: Types, p: Params) -> int | None:
    return x[0].high


def _draw_with_indices(draw: Draw) -> Types:
    """A tensor, and indices of any shape that are below the size of one of its axes."""
    x = draw_tensor(draw, RANKS, ANYTHING)
    shape = draw_shape(draw, draw.integer(1, 3), high=5)
    return x, TensorType("int32", shape, high=max(1, draw.choice(x.shape)))


def _draw_axis_of(draw: Draw, x: Types, p: Params) -> int | None:
    """An axis with as many places as indices need."""
    fits = [axis for axis in range(-x[0].rank, x[0].rank) if x[0].shape[axis] >= (x[1].high or 1)]
    return None if not fits or draw.chance(0.2) else draw.choice(fits)


_AXIS = Computed(
    "an axis, or null for the flat tensor",
    simplest=None,
    check=lambda value: axis_space(None, none=True).problem(value) is None,
    draw=_draw_axis_of,
)


def _taken(x: Types, p: Params) -> Shape:
    if p.axis is None:
        return x[1].shape
    (axis,) = axes_of(p.axis, x[0].rank)
    return (*x[0].shape[:axis], *x[1].shape, *x[0].shape[axis + 1 :])


_IN_RANGE = {"indices are in range": Ours(lambda x, p: indices_below(x[1], _size(x[0], p.axis)))}
moving(
    "take",
    lambda x, indices, axis: np.take(x, indices, axis),
    arity=(2, 2),
    one_dtype=False,
    params={"axis": _AXIS},
    rules={
        "axes exist": lambda x, p: p.axis is None or -x[0].rank <= p.axis < x[0].rank,
        **_IN_RANGE,
    },
    shape=_taken,
    high=_first_high,
    inputs=_draw_with_indices,
    output_ranks=range(1, 8),
)


def _draw_along(draw: Draw) -> Types:
    """A tensor, and indices of its rank: as wide as it is but along one axis, and of size 1 now and then."""
    x = draw_tensor(draw, RANKS, ANYTHING)
    if draw.chance(0.15):
        return x, TensorType("int32", (draw.integer(1, 5),), high=max(1, x.elements))
    axis = draw.integer(0, x.rank - 1)
    sizes = [1 if size and draw.chance(0.15) else size for size in x.shape]
    sizes[axis] = draw.integer(1, 5)
    return x, TensorType("int32", tuple(sizes), high=max(1, x.shape[axis]))


def _along(x: Types, p: Params) -> Shape:
    if p.axis is None:
        return (x[1].elements,)
    (axis,) = axes_of(p.axis, x[0].rank)
    return tuple(
        b if place == axis else a if b == 1 else b
        for place, (a, b) in enumerate(zip(x[0].shape, x[1].shape, strict=True))
    )


def _sizes_agree(x: Types, p: Params) -> bool:
    """As NumPy has it: sizes but those along the axis are broadcast."""
    if p.axis is None:
        return x[1].rank == 1
    if x[0].rank != x[1].rank or not -x[0].rank <= p.axis < x[0].rank:
        return False
    pairs = enumerate(zip(x[0].shape, x[1].shape, strict=True))
    return all(place == p.axis % x[0].rank or a == b or 1 in (a, b) for place, (a, b) in pairs)


def _take_along(x: Any, indices: Any, axis: int | None) -> Any:
    if axis is None:
        return np.take(x, indices)
    pairs = enumerate(zip(x.shape, indices.shape, strict=True))
    sizes = [1 if place == axis % x.ndim else a if b == 1 else b for place, (a, b) in pairs]
    wide = [
        np.broadcast_to(array, [array.shape[axis] if place == axis % x.ndim else n for place, n in enumerate(sizes)])
        for array in (x, indices)
    ]
    return np.take_along_axis(wide[0], wide[1], axis)


moving(
    "take_along_axis",
    _take_along,
    arity=(2, 2),
    one_dtype=False,
    params={"axis": _AXIS},
    rules={"sizes agree": _sizes_agree, **_IN_RANGE},
    shape=_along,
    high=_first_high,
    inputs=_draw_along,
)
operator(
    "unravel_index",
    formula=lambda indices, shape: [np.asarray(each, np.int32) for each in np.unravel_index(indices, shape)],
    dtypes=("int32",),
    params={
        "shape": Computed(
            "a shape",
            simplest=(9,),
            check=lambda value: is_ints(value, 1, 4096, range(1, 6)),
            draw=lambda draw, x, p: (draw.integer(1, 9), *(draw.integer(1, 4) for _ in range(draw.integer(0, 3)))),
        )
    },
    rules={"indices are in range": Ours(lambda x, p: indices_below(x, math.prod(p.shape)))},
    shape=lambda x, p: [x.shape] * len(p.shape),
    high=lambda x, p: max(p.shape),
)

# -- by slices ---------------------------------------------------------------------------------------------------------

ELLIPSIS = "..."
"""Stands for all axes that a key does not name."""


def _draw_key(draw: Draw, x: TensorType, p: Params) -> tuple[Any, ...]:
    """An index, a slice, a new axis or an ellipsis at a time; most slices go forwards."""
    key: list[Any] = []
    count = draw.integer(0 if draw.chance(0.1) else 1, x.rank)
    split = draw.integer(0, count) if draw.chance(0.25) else -1
    for place in range(count):
        if place == split:
            key.append(ELLIPSIS)
        if draw.chance(0.1):
            key.append(None)
        size = x.shape[place if split < 0 or place < split else place + x.rank - count]
        key.append(draw.integer(-size, size - 1) if size and draw.chance(0.25) else _draw_slice(draw, size))
    return tuple(key) if key else (ELLIPSIS,)


def _draw_slice(draw: Draw, size: int) -> tuple[Any, ...]:
    step = draw.choice((None, None, 1, 2, 3, -1, -2)) if draw.chance(0.6) else None
    start, stop = (None if draw.chance(0.3) else draw.integer(-size - 1, size + 1) for _ in "ab")
    return start, stop, step


def _is_key_part(value: object) -> bool:
    if value is None or value == ELLIPSIS or is_ints((value,), -(2**20), 2**20, (1,)):
        return True
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and all(each is None or is_ints((each,), -(2**20), 2**20, (1,)) for each in value)
        and value[2] != 0
    )


def as_key(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key as Python has it."""
    return tuple(slice(*part) if isinstance(part, tuple) else Ellipsis if part == ELLIPSIS else part for part in parts)


def _axes_named(p: Params) -> int:
    return sum(part is not None and part != ELLIPSIS for part in p["key"])


def _key_fits(x: TensorType, p: Params) -> bool:
    named = [part for part in p["key"] if part is not None]
    if p["key"].count(ELLIPSIS) > 1 or _axes_named(p) > x.rank:
        return True  # another rule says so
    before = named.index(ELLIPSIS) if ELLIPSIS in named else len(named)
    sizes = (*x.shape[:before], *x.shape[x.rank - len(named[before + 1 :]) :])
    parts = [*named[:before], *named[before + 1 :]]
    return all(isinstance(part, tuple) or -size <= part < size for part, size in zip(parts, sizes, strict=False))


moving(
    "get_item",
    lambda x, key, notation: x[as_key(key)],
    params={
        "notation": NOTATION,
        "key": Computed(
            "indices, slices, null for a new axis, or ... for all other axes",
            simplest=(0,),
            check=lambda value: isinstance(value, tuple) and 1 <= len(value) <= 12 and all(map(_is_key_part, value)),
            draw=_draw_key,
        ),
    },
    rules={
        "one ellipsis at most": lambda x, p: p["key"].count(ELLIPSIS) <= 1,
        "as many axes as there are": lambda x, p: _axes_named(p) <= x.rank,
        "indices are in range": _key_fits,
    },
    shape=lambda x, p: np.empty(x.shape, bool)[as_key(p["key"])].shape,
    output_ranks=range(9),
)


def _is_place(value: object) -> bool:
    return is_ints(value, 0, 2**20, range(1, 9))


def _draw_part(draw: Draw, x: Any, p: Params) -> Shape:
    return tuple(draw.integer(1 if n > 1 else 0, n) if n else 0 for n in x.shape)


def _draw_start(draw: Draw, x: TensorType, p: Params) -> Shape:
    return tuple(draw.integer(0, max(0, size - n)) for size, n in zip(x.shape, p.shape, strict=False))


moving(
    "slice",
    lambda x, shape, start_indices: x[tuple(slice(s, s + n) for s, n in zip(start_indices, shape, strict=True))],
    params={
        "shape": Computed("a shape", simplest=(1,), check=_is_place, draw=_draw_part),
        "start_indices": Computed("a place for each axis", simplest=(0,), check=_is_place, draw=_draw_start),
    },
    rules={
        "a size and a place for each axis": lambda x, p: len(p.shape) == len(p.start_indices) == x.rank,
        "the slice is within": Ours(
            lambda x, p: all(s + n <= size for s, n, size in zip(p.start_indices, p.shape, x.shape, strict=False))
        ),
    },
    shape=lambda x, p: p.shape,
)


def _draw_updated(draw: Draw) -> Types:
    x = draw_tensor(draw, RANKS, ANYTHING)
    return x, TensorType(x.dtype, _draw_part(draw, x, Params()), high=x.high)


def _updated(x: Any, updates: Any, start_indices: Shape) -> Any:
    result = x.copy()
    result[tuple(slice(s, s + n) for s, n in zip(start_indices, updates.shape, strict=True))] = updates
    return result


moving(
    "slice_update",
    _updated,
    arity=(2, 2),
    params={
        "start_indices": Computed(
            "a place for each axis",
            simplest=(0,),
            check=_is_place,
            draw=lambda draw, x, p: _draw_start(draw, x[0], Params({"shape": x[1].shape})),
        )
    },
    rules={
        "a place for each axis": lambda x, p: len(p.start_indices) == x[0].rank == x[1].rank,
        "updates are within": Ours(
            lambda x, p: all(s + n <= size for s, n, size in zip(p.start_indices, x[1].shape, x[0].shape, strict=False))
        ),
    },
    shape=lambda x, p: x[0].shape,
    inputs=_draw_updated,
)

# -- scattered elements ------------------------------------------------------------------------------------------------


def _draw_scattered(draw: Draw, dtypes: tuple[str, ...]) -> tuple[Shape, TensorType, TensorType]:
    """A shape, some indices of its first axes, and what is put there."""
    dtype, shape = draw_dtype(draw, dtypes), tuple(draw.integer(1, 5) for _ in range(draw.integer(1, 4)))
    depth, count = draw.integer(1, len(shape)), draw.integer(1, 5)
    indices = TensorType("int32", (count, depth), high=min(shape[:depth]))
    high = draw.integer(1, 9) if dtype == "int32" else None
    return shape, indices, TensorType(dtype, (count, *shape[depth:]), high=high)


def _scatter_fits(shape: Shape, indices: TensorType, updates: TensorType) -> bool:
    if indices.rank != 2 or not 1 <= indices.shape[1] <= len(shape):
        return False
    return updates.shape == (indices.shape[0], *shape[indices.shape[1] :])


def _indices_within(shape: Shape, indices: TensorType) -> bool:
    return indices.rank != 2 or indices_below(indices, min(shape[: indices.shape[1]], default=0))


def _draw_scatter_shape(draw: Draw, x: Types, p: Params) -> Shape:
    indices, values = x
    first = tuple(draw.integer(indices.high or 1, (indices.high or 1) + 2) for _ in range(indices.shape[-1]))
    return (*first, *values.shape[1:])


operator(
    "scatter",
    ranks=(2,),
    dtypes=("int32",),
    arity=(2, 2),
    one_dtype=False,
    params={
        "shape": Computed(
            "a shape", simplest=(1,), check=lambda value: is_ints(value, 1, 4096, range(1, 9)), draw=_draw_scatter_shape
        )
    },
    rules={
        "values fit the indices": lambda x, p: _scatter_fits(p.shape, *x),
        "indices are in range": Ours(lambda x, p: _indices_within(p.shape, x[0])),
        "values are numbers": Ours(lambda x, p: x[1].dtype in NUMBERS),
    },
    shape=lambda x, p: p.shape,
    dtype=lambda x, p: x[1].dtype,
    high=lambda x, p: x[1].high,
    inputs=lambda draw: _draw_scattered(draw, NUMBERS)[1:],
    output_ranks=range(1, 9),
    doc="Zeros with values at some places; of several values for a place, the last one.",
)


def _draw_scatter_update(draw: Draw) -> Types:
    shape, indices, updates = _draw_scattered(draw, NUMBERS)
    return TensorType(updates.dtype, shape, high=updates.high), indices, updates


operator(
    "scatter_update",
    dtypes=NUMBERS,
    arity=(3, 3),
    one_dtype=False,
    params={"reduction": Choice(None, "add", "max", "min", "mul")},
    rules={
        **SMALL,
        "integers stay small": Ours(lambda x, p: p.reduction != "mul" or x[0].is_float or (x[2].high or 99) <= 9),
        "not many updates": Ours(lambda x, p: x[1].elements <= 64),
        "inputs and updates have one dtype": Ours(lambda x, p: x[0].dtype == x[2].dtype),
        "updates fit the indices": lambda x, p: _scatter_fits(x[0].shape, *x[1:]),
        "indices are in range": Ours(lambda x, p: _indices_within(x[0].shape, x[1])),
    },
    shape=lambda x, p: x[0].shape,
    inputs=_draw_scatter_update,
)

# -- by conditions -----------------------------------------------------------------------------------------------------


def _draw_choices(draw: Draw) -> Types:
    """As many conditions as tensors to choose from."""
    kind, count = draw_tensor(draw, RANKS, NUMBERS), draw.integer(1, 3)
    return (*(TensorType("bool", kind.shape),) * count, *(kind,) * count)


def _select(*tensors: Any, default: float) -> Any:
    half = len(tensors) // 2
    return np.select(tensors[:half], tensors[half:], default)


def _choices_alike(x: Types, p: Params) -> bool:
    half = len(x) // 2
    return (
        len(x) % 2 == 0
        and len({kind.shape for kind in x}) == 1
        and {kind.dtype for kind in x[:half]} == {"bool"}
        and len({kind.dtype for kind in x[half:]}) == 1
        and x[half].dtype in NUMBERS
    )


operator(
    "select",
    formula=_select,
    dtypes=("bool",),
    arity=(2, 8),
    one_dtype=False,
    params={
        "default": Computed(
            "a number",
            simplest=0,
            check=lambda value: type(value) in (int, float) and abs(value) <= 1000,
            draw=lambda draw, x, p: draw.integer(-8, 8) / 4 if x[-1].is_float else draw.integer(0, 8),
        )
    },
    rules={
        "conditions and choices are alike": Ours(_choices_alike),
        "a default of the choices' dtype": Ours(lambda x, p: x[-1].is_float or type(p.default) is int),
    },
    shape=lambda x, p: x[0].shape,
    dtype=lambda x, p: x[-1].dtype,
    inputs=_draw_choices,
)
