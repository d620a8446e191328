"""Operators that put tensors together, or take one apart: concatenation, stacks, splits, grids."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    RANKS,
    Types,
    axes_of,
    axis_space,
    draw_dtype,
    draw_tensor,
    largest_bound,
    operator,
)
from cometfuzz.catalogue.operators.arranging import ANYTHING, is_ints, moving
from cometfuzz.catalogue.spaces import Choice, Computed, Space
from cometfuzz.catalogue.spec import LayerSpec, Ours, Rule, Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

MOST = 8
"""How many results a split may have, and how many tensors a list."""

# -- tensors in a list -------------------------------------------------------------------------------------------------


def draw_list(draw: Draw) -> Types:
    """Two to four tensors of one shape, but for the size of one axis now and then."""
    first = draw_tensor(draw, RANKS, ANYTHING)
    axis, others = draw.integer(0, first.rank - 1), draw.chance(0.5)
    kinds = [first]
    for _ in range(draw.integer(1, 3)):
        sizes = list(first.shape)
        if others:
            sizes[axis] = draw.integer(1, 4)
        kinds.append(TensorType(first.dtype, tuple(sizes), high=first.high))
    return tuple(kinds)


def _draw_equal(draw: Draw) -> Types:
    return (draw_tensor(draw, RANKS, ANYTHING),) * draw.integer(2, 4)


def _alike_but(x: Types, axis: int) -> bool:
    """Whether all shapes are one, but for the size of an axis."""
    rank = x[0].rank
    if any(kind.rank != rank for kind in x) or not -rank <= axis < rank:
        return False
    return len({tuple(size for place, size in enumerate(kind.shape) if place != axis % rank) for kind in x}) == 1


def _joined(shapes: list[Shape], axis: int) -> Shape:
    axis %= len(shapes[0])
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])


def joining(
    name: str,
    formula: Callable[..., Any],
    *,
    rules: dict[str, Rule],
    shape: Callable[[Any, Any], Shape],
    inputs: Callable[[Draw], Types] = draw_list,
    arity: tuple[int, int] = (2, MOST),
    **block: Any,
) -> LayerSpec:
    """Declare an operator that makes one tensor of several."""
    return moving(name, formula, rules=rules, shape=shape, inputs=inputs, arity=arity, **block)


def _draw_join_axis(draw: Draw, x: Types, p: Params) -> int:
    """The axis along which sizes differ, if there is one."""
    rank = x[0].rank
    differ = [axis for axis in range(rank) if len({kind.shape[axis] for kind in x if kind.rank == rank}) > 1]
    axis = draw.choice(differ or range(rank))
    return axis - rank if draw.chance(0.4) else axis


def _join_axis(simplest: int | None, none: bool) -> Space:
    """An axis, drawn so that tensors can be joined along it."""
    plain = axis_space(simplest, none)
    return Computed(
        plain.describe(),
        simplest=simplest,
        check=lambda value: plain.problem(value) is None,
        draw=lambda draw, x, p: None if none and draw.chance(0.2) else _draw_join_axis(draw, x, p),
    )


joining(
    "concatenate",
    lambda *xs, axis: np.concatenate(xs, axis),
    params={"axis": _join_axis(0, none=False)},
    rules={"sizes agree but along the axis": lambda x, p: _alike_but(x, p.axis)},
    shape=lambda x, p: _joined([kind.shape for kind in x], p.axis),
)
joining(
    "append",
    lambda x, y, axis: np.append(x, y, axis),
    arity=(2, 2),
    params={"axis": _join_axis(None, none=True)},
    rules={"sizes agree but along the axis": lambda x, p: p.axis is None or _alike_but(x, p.axis)},
    shape=lambda x, p: (
        (x[0].elements + x[1].elements,) if p.axis is None else _joined([kind.shape for kind in x], p.axis)
    ),
    inputs=lambda draw: draw_list(draw)[:2],
)


def _stacked(x: Types, p: Params) -> Shape:
    axis = p.axis % (x[0].rank + 1)
    return (*x[0].shape[:axis], len(x), *x[0].shape[axis:])


joining(
    "stack",
    lambda *xs, axis: np.stack(xs, axis),
    params={
        "axis": Computed(
            "the place of a new axis",
            simplest=0,
            check=lambda value: is_ints((value,), -8, 7, (1,)),
            draw=lambda draw, x, p: draw.integer(-x[0].rank - 1, x[0].rank),
        )
    },
    rules={
        "shapes are equal": lambda x, p: len({kind.shape for kind in x}) == 1,
        "axes exist": lambda x, p: -x[0].rank - 1 <= p.axis <= x[0].rank,
    },
    shape=_stacked,
    inputs=_draw_equal,
    output_ranks=range(2, 7),
)


def _at_least(rank: int) -> Callable[[Shape], Shape]:
    """The shape that vstack and dstack make of a tensor of fewer axes, as NumPy's atleast_2d and atleast_3d do."""
    of: Callable[..., Any] = {2: np.atleast_2d, 3: np.atleast_3d}[rank]
    return lambda shape: tuple(of(np.empty(shape, bool)).shape)


def _as_it_is(shape: Shape) -> Shape:
    return shape


def _side(x: Types, p: Params) -> int:
    return 0 if x[0].rank == 1 else 1


for _name, _of, _least, _widened, _axis in (
    ("hstack", np.hstack, 1, _as_it_is, _side),
    ("vstack", np.vstack, 2, _at_least(2), lambda x, p: 0),
    ("dstack", np.dstack, 3, _at_least(3), lambda x, p: 2),
):

    def _alike(x: Types, p: Params, widened: Any = _widened, axis: Any = _axis) -> bool:
        return len({kind.rank for kind in x}) == 1 and _alike_but(
            tuple(TensorType(kind.dtype, widened(kind.shape)) for kind in x), axis(x, p)
        )

    def _shape(x: Types, p: Params, widened: Any = _widened, axis: Any = _axis) -> Shape:
        return _joined([widened(kind.shape) for kind in x], axis(x, p))

    joining(
        _name,
        lambda *xs, of=_of: of(xs),
        rules={"sizes agree but along the axis": _alike},
        shape=_shape,
        output_ranks=RANKS[_least - 1 :],
    )


def _draw_vectors(draw: Draw) -> Types:
    dtype = draw_dtype(draw, ANYTHING)
    high = draw.integer(1, 9) if dtype == "int32" else None
    return tuple(TensorType(dtype, (draw.integer(1, 5),), high=high) for _ in range(draw.integer(1, 4)))


def _grid(x: Types, p: Params) -> list[Shape]:
    sizes = [kind.shape[0] for kind in x]
    if p.indexing == "xy" and len(sizes) > 1:
        sizes[:2] = sizes[1], sizes[0]
    return [tuple(sizes)] * len(sizes)


operator(
    "meshgrid",
    formula=lambda *xs, indexing: list(np.meshgrid(*xs, indexing=indexing)),
    ranks=(1,),
    dtypes=ANYTHING,
    arity=(1, 5),
    params={"indexing": Choice("xy", "ij")},
    rules={
        "all are vectors": Ours(lambda x, p: all(kind.rank == 1 for kind in x)),
        "not many elements": Ours(lambda x, p: all(kind.elements <= 16 for kind in x)),
    },
    shape=_grid,
    high=largest_bound,
    inputs=_draw_vectors,
    output_ranks=range(1, 6),
)

# -- one tensor taken apart --------------------------------------------------------------------------------------------


def _cuts(size: int, value: Any) -> list[int]:
    """The sizes of the parts, for a number of them or for the places where they begin."""
    if isinstance(value, tuple):
        edges = [0, *value, size]
        return [after - before for before, after in itertools.pairwise(edges)]
    return [size // value] * value


def _draw_cuts(size_of: Callable[[TensorType, Params], int]) -> Callable[[Draw, TensorType, Params], Any]:
    def draw_cuts(draw: Draw, x: TensorType, p: Params) -> Any:
        size = size_of(x, p)
        if draw.chance(0.5):
            return draw.choice([n for n in range(1, MOST + 1) if size % n == 0])
        return tuple(sorted(draw.integer(0, size) for _ in range(draw.integer(1, 3))))

    return draw_cuts


def splitting(name: str, axis_of: Callable[[TensorType, Params], int], **block: Any) -> LayerSpec:
    """Declare an operator that cuts a tensor along an axis."""

    def size_of(x: TensorType, p: Params) -> int:
        axis = axis_of(x, p)
        return x.shape[axis] if -x.rank <= axis < x.rank else 0

    def cuts_fit(x: TensorType, p: Params) -> bool:
        value = p.indices_or_sections
        if isinstance(value, tuple):
            return bool(list(value) == sorted(value) and value[-1] <= size_of(x, p))
        return bool(size_of(x, p) % value == 0)

    def shapes(x: TensorType, p: Params) -> list[Shape]:
        axis = axis_of(x, p) % x.rank
        return [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in _cuts(x.shape[axis], p.indices_or_sections)]

    return moving(
        name,
        lambda x, indices_or_sections, **axis: np.split(
            x,
            indices_or_sections if isinstance(indices_or_sections, int) else list(indices_or_sections),
            axis_of(x, Params(axis)),
        ),
        params={
            **block.pop("params", {}),
            "indices_or_sections": Computed(
                "a number of equal parts, or the places where parts begin",
                simplest=1,
                check=lambda value: is_ints(value, 0, 4096, range(1, MOST)) or is_ints((value,), 1, MOST, (1,)),
                draw=_draw_cuts(size_of),
                wrong=(0,),
            ),
        },
        rules={**block.pop("rules", {}), "parts fit": cuts_fit},
        shape=shapes,
        **block,
    )


def _is_rank(x: Any) -> int:
    """The rank of a type or of an array."""
    return len(x.shape)


splitting("split", lambda x, p: int(p.axis), params={"axis": axis_space(0)}, rules=AXIS_EXISTS)
splitting("hsplit", lambda x, p: 0 if _is_rank(x) == 1 else 1)
splitting("vsplit", lambda x, p: 0, ranks=RANKS[1:])
splitting("dsplit", lambda x, p: 2, ranks=RANKS[2:])


def _uneven(x: TensorType, p: Params) -> list[Shape]:
    (axis,) = axes_of(p.axis, x.rank)
    size, parts = x.shape[axis], p.indices_or_sections
    sizes = [size // parts + (place < size % parts) for place in range(parts)]
    return [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in sizes]


moving(
    "array_split",
    lambda x, axis, indices_or_sections: np.array_split(x, indices_or_sections, axis),
    params={
        "axis": axis_space(0),
        "indices_or_sections": Computed(
            "a number of parts",
            simplest=1,
            check=lambda value: is_ints((value,), 1, MOST, (1,)),
            draw=lambda draw, x, p: draw.integer(1, 5),
            wrong=(0, -1),
        ),
    },
    rules=AXIS_EXISTS,
    shape=_uneven,
)


def _slabs(x: TensorType, p: Params) -> list[Shape]:
    (axis,) = axes_of(p.axis, x.rank)
    return [(*x.shape[:axis], *x.shape[axis + 1 :])] * x.shape[axis]


def _size_along(x: TensorType, p: Params) -> int | None:
    return x.shape[p.axis] if -x.rank <= p.axis < x.rank else None


moving(
    "unstack",
    lambda x, axis, num: [np.take(x, place, axis) for place in range(x.shape[axis])],
    params={
        "axis": axis_space(0),
        "num": Computed(
            "null, or the size of the axis",
            simplest=None,
            check=lambda value: value is None or is_ints((value,), 0, 64, (1,)),
            draw=lambda draw, x, p: None if draw.chance(0.5) else x.shape[p.axis],
        ),
    },
    rules={
        **AXIS_EXISTS,
        "num is the size": lambda x, p: p.num is None or _size_along(x, p) in (None, p.num),
        "not many tensors": Ours(lambda x, p: 1 <= (_size_along(x, p) or 1) <= MOST and _size_along(x, p) != 0),
    },
    shape=_slabs,
    output_ranks=range(5),
)
