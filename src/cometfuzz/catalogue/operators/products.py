"""Operators that add up products: matmul and its relatives."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import RANKS, Types, axes_of, broadcast, draw_dtype, operator
from cometfuzz.catalogue.operators.elementwise import NOTATION
from cometfuzz.catalogue.operators.subscripts import (
    SIMPLEST,
    are_subscripts,
    draw_common_shapes,
    draw_subscripts,
    fits,
    output_shape,
    products,
)
from cometfuzz.catalogue.spaces import RARE, Choice, Computed
from cometfuzz.catalogue.spec import Ours, Rule, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

_MOST_PRODUCTS, _MOST_AXES = 20_000, 6
_two = partial(operator, arity=(2, 2), ranks=RANKS, output_ranks=range(_MOST_AXES + 1))


def _few_axes(shape: Callable[[Any, Any], Shape]) -> dict[str, Rule]:
    return {"result has few axes": Ours(lambda x, p: len(shape(x, p)) <= _MOST_AXES)}


# -- matmul ------------------------------------------------------------------------------------------------------------


def _as_matrices(x: Types) -> tuple[Shape, Shape]:
    """The shapes of both sides, a vector as one row on the left and one column on the right."""
    left, right = (kind.shape for kind in x)
    return (left if len(left) > 1 else (1, *left)), (right if len(right) > 1 else (*right, 1))


def _batches(x: Types) -> Shape | None:
    left, right = _as_matrices(x)
    return broadcast(left[:-2], right[:-2])


def _matmul_shape(x: Types, p: Params) -> Shape:
    left, right = _as_matrices(x)
    rows = left[-2:-1] if x[0].rank > 1 else ()
    columns = right[-1:] if x[1].rank > 1 else ()
    return (*(_batches(x) or ()), *rows, *columns)


def _draw_matrices(draw: Draw) -> Types:
    dtype, left = draw_dtype(draw, FLOATS), draw_shape(draw, draw.integer(1, 4))
    batch = left[:-2] if draw.chance(0.6) else left[-2 - draw.integer(0, 1) : -2]
    batch = tuple(1 if draw.chance(0.2) else size for size in batch)
    right = (*batch, left[-1], draw.integer(1, 8)) if draw.chance(0.8) else left[-1:]
    return TensorType(dtype, left), TensorType(dtype, right)


_two(
    "matmul",
    output_ranks=range(6),
    params={"notation": NOTATION},
    rules={
        "inner sizes are equal": lambda x, p: _as_matrices(x)[0][-1] == _as_matrices(x)[1][-2],
        "batches can be broadcast": lambda x, p: _batches(x) is not None,
    },
    shape=_matmul_shape,
    inputs=_draw_matrices,
    doc="The product of matrices, with batches broadcast; a vector is a row on the left, a column on the right.",
)

# -- sums over one axis of each side, or over all ----------------------------------------------------------------------


def _draw_sharing(axis: int, most: int = 3) -> Callable[[Draw], Types]:
    """Draws two tensors: the last axis of the first has the size of the second's axis, or of its only one."""

    def draw_inputs(draw: Draw) -> Types:
        dtype, left = draw_dtype(draw, FLOATS), draw_shape(draw, draw.integer(1, most), high=5)
        right = list(draw_shape(draw, draw.integer(1, most), high=5))
        right[max(axis, -len(right))] = left[-1]
        return TensorType(dtype, left), TensorType(dtype, tuple(right))

    return draw_inputs


def _dot_shape(x: Types, p: Params) -> Shape:
    left, right = (kind.shape for kind in x)
    return left[:-1] + (right[:-2] + right[-1:] if len(right) > 1 else ())


def _inner_shape(x: Types, p: Params) -> Shape:
    return x[0].shape[:-1] + x[1].shape[:-1]


_two(
    "dot",
    rules={
        "summed sizes are equal": lambda x, p: x[0].shape[-1] == x[1].shape[-2 if x[1].rank > 1 else -1],
        **_few_axes(_dot_shape),
    },
    shape=_dot_shape,
    inputs=_draw_sharing(-2),
    doc="The sum over the last axis of the first and the last but one of the second, or its only one.",
)
_two(
    "inner",
    rules={"last sizes are equal": lambda x, p: x[0].shape[-1] == x[1].shape[-1], **_few_axes(_inner_shape)},
    shape=_inner_shape,
    inputs=_draw_sharing(-1),
    doc="The sum over the last axes of both.",
)


def _draw_flat(draw: Draw) -> Types:
    """Two tensors of one shape; seldom the second has its axes in another order."""
    dtype, shape = draw_dtype(draw, FLOATS), draw_shape(draw, draw.choice((1, 1, 2, 3)))
    other = tuple(draw.shuffled(shape)) if draw.chance(0.2) else shape
    return TensorType(dtype, shape), TensorType(dtype, other)


_two(
    "vdot",
    output_ranks=(0,),
    rules={"as many elements": lambda x, p: x[0].elements == x[1].elements},
    shape=lambda x, p: (),
    inputs=_draw_flat,
    doc="The sum of the products of all elements, both tensors flattened.",
)


def _draw_any(ranks: range, high: int = 4) -> Callable[[Draw], Types]:
    def draw_inputs(draw: Draw) -> Types:
        dtype = draw_dtype(draw, FLOATS)
        first, second = (draw_shape(draw, draw.choice(ranks), high=high) for _ in range(2))
        return TensorType(dtype, first), TensorType(dtype, second)

    return draw_inputs


_NOT_LARGE: Mapping[str, Rule] = {
    "result is not large": Ours(lambda x, p: x[0].elements * x[1].elements <= _MOST_PRODUCTS)
}
_two(
    "outer",
    output_ranks=(2,),
    formula=np.outer,
    rules=_NOT_LARGE,
    shape=lambda x, p: (x[0].elements, x[1].elements),
    inputs=_draw_any(range(1, 4)),
    doc="The products of all elements of one with all of the other, both flattened.",
)


def _draw_of_one_rank(draw: Draw) -> Types:
    rank, dtype = draw.integer(1, 4), draw_dtype(draw, FLOATS)
    return TensorType(dtype, draw_shape(draw, rank, high=4)), TensorType(dtype, draw_shape(draw, rank, high=4))


_two(
    "kron",
    output_ranks=RANKS,
    formula=np.kron,
    rules={"both have one rank": Ours(lambda x, p: x[0].rank == x[1].rank), **_NOT_LARGE},
    shape=lambda x, p: tuple(a * b for a, b in zip(x[0].shape, x[1].shape, strict=True)),
    inputs=_draw_of_one_rank,
    doc="The Kronecker product: each element of the first, times all of the second.",
)

# -- tensordot and einsum ----------------------------------------------------------------------------------------------


def _draw_alike(least: int, most: int) -> Callable[[Draw], Types]:
    """Draws `least` to `most` tensors whose axes have few different sizes, so that many can be summed over together."""

    def draw_inputs(draw: Draw) -> Types:
        dtype, count = draw_dtype(draw, FLOATS), draw.choice(range(least, most + 1))
        few = [draw.integer(1, 5), draw.integer(2, 5), 0 if draw.chance(RARE) else draw.integer(2, 6)]
        ranks = range(1, 5 if count < 3 else 4)
        return tuple(
            TensorType(dtype, tuple(draw.choice(few) for _ in range(draw.choice(ranks)))) for _ in range(count)
        )

    return draw_inputs


def _draw_operands(draw: Draw) -> Types:
    if not draw.chance(0.3):
        return _draw_alike(1, 3)(draw)
    dtype = draw_dtype(draw, FLOATS)
    return tuple(TensorType(dtype, shape) for shape in draw_common_shapes(draw))


def _draw_pairs(draw: Draw, x: Types, p: Params) -> Any:
    """A number of axes that fit, or pairs of axes of one size."""
    left, right = (kind.shape for kind in x)
    counts = [n for n in range(min(len(left), len(right)) + 1) if left[len(left) - n :] == right[:n]]
    if draw.chance(0.4):
        return draw.choice(counts)
    pairs: list[tuple[int, int]] = []
    for axis in draw.shuffled(range(len(left))):
        free = [
            other for other in range(len(right)) if right[other] == left[axis] and other not in dict(pairs).values()
        ]
        if free and draw.chance(0.7):
            pairs.append((axis, draw.choice(free)))
    ends = (left, right)
    return tuple(
        tuple(pair[side] - len(ends[side]) if draw.chance(0.2) else pair[side] for pair in pairs) for side in (0, 1)
    )


def _are_pairs(value: object) -> bool:
    if isinstance(value, tuple):
        numbers = all(isinstance(side, tuple) and all(type(axis) is int for axis in side) for side in value)
        return len(value) == 2 and numbers and len(value[0]) == len(value[1])
    return type(value) is int and 0 <= value <= 8


def paired(x: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of both sides that tensordot sums over, counted from the front."""
    left, right = (kind.ndim if isinstance(kind, np.ndarray) else kind.rank for kind in x)
    if isinstance(axes, int):
        return tuple(range(left - axes, left)), tuple(range(axes))
    return axes_of(axes[0], left), axes_of(axes[1], right)


def _pairs_fit(x: Types, p: Params) -> bool:
    sides = paired(x, p.axes)
    for kind, axes in zip(x, sides, strict=True):
        if len(set(axes)) < len(axes) or not all(0 <= axis < kind.rank for axis in axes):
            return False
    return all(x[0].shape[a] == x[1].shape[b] for a, b in zip(*sides, strict=True))


def _tensordot_shape(x: Types, p: Params) -> Shape:
    sides = zip(x, paired(x, p.axes), strict=True)
    return tuple(size for kind, axes in sides for axis, size in enumerate(kind.shape) if axis not in axes)


_two(
    "tensordot",
    params={
        "axes": Computed(
            "how many axes are summed over, or those of the first and those of the second",
            simplest=1,
            check=_are_pairs,
            draw=_draw_pairs,
        )
    },
    rules={
        "axes exist and fit": _pairs_fit,
        **_few_axes(_tensordot_shape),
        "result is not large": Ours(lambda x, p: x[0].elements * x[1].elements <= 10 * _MOST_PRODUCTS),
    },
    shape=_tensordot_shape,
    inputs=_draw_alike(2, 2),
    doc="The sum over pairs of axes; those that are left stand in order, the first tensor's first.",
)
operator(
    "einsum",
    arity=(1, 3),
    output_ranks=range(_MOST_AXES + 1),
    params={
        "subscripts": Computed(
            "subscripts, as in ij,jk->ik",
            simplest=SIMPLEST.equation,
            check=are_subscripts,
            draw=draw_subscripts,
            numeric=False,
        )
    },
    rules={
        "subscripts fit": fits,
        "products are not many": Ours(lambda x, p: products(x, p) <= _MOST_PRODUCTS),
        "result has few axes": Ours(lambda x, p: len(output_shape(x, p)) <= _MOST_AXES),
    },
    shape=output_shape,
    inputs=_draw_operands,
    doc="Products of elements that have the same place along equal letters, summed over letters that are not kept.",
)

# -- vectors of space, signals, points ---------------------------------------------------------------------------------

_SPACE = (2, 3)
_VECTOR_AXIS = Computed(
    "an axis",
    simplest=-1,
    check=lambda value: type(value) is int and -8 <= value < 8,
    draw=lambda draw, x, p: -1 if draw.chance(0.7) else draw.integer(-min(k.rank for k in x), x[0].rank - 1),
)


def _draw_common_axis(draw: Draw, x: Types, p: Params) -> int | None:
    rank = min(kind.rank for kind in x)
    found = [axis for axis in range(-rank, rank) if all(kind.shape[axis] in _SPACE for kind in x)]
    return draw.choice(found) if found and draw.chance(0.5) else None


_COMMON_AXIS = Computed(
    "an axis, or null",
    simplest=None,
    check=lambda value: value is None or (type(value) is int and -8 <= value < 8),
    draw=_draw_common_axis,
)


def vector_axes(p: Params) -> tuple[int, int, int]:
    """The axes that hold the vectors of both sides and of the result: `axis` overrides the others."""
    return (p.axisa, p.axisb, p.axisc) if p.axis is None else (p.axis,) * 3


def _without(shape: Shape, axis: int) -> Shape:
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def _holds_vectors(x: Types, p: Params) -> bool:
    axes = vector_axes(p)[:2]
    return all(
        -kind.rank <= axis < kind.rank and kind.shape[axis] in _SPACE for kind, axis in zip(x, axes, strict=True)
    )


def _others(x: Types, p: Params) -> Shape | None:
    axes = vector_axes(p)[:2]
    return broadcast(*(_without(kind.shape, axis) for kind, axis in zip(x, axes, strict=True)))


def _result_has_axis(x: Types, p: Params) -> bool:
    others, axis = _others(x, p), vector_axes(p)[2]
    return others is not None and -len(others) - 1 <= axis <= len(others)


def _cross_shape(x: Types, p: Params) -> Shape:
    first, second, third = vector_axes(p)
    others = _others(x, p) or ()
    if x[0].shape[first] == x[1].shape[second] == 2:
        return others
    third %= len(others) + 1
    return (*others[:third], 3, *others[third:])


def _draw_vectors(draw: Draw) -> Types:
    """Two tensors that are alike, with an axis that holds vectors, mostly the last one and mostly of three numbers."""
    dtype, shape = draw_dtype(draw, FLOATS), list(draw_shape(draw, draw.integer(1, 4)))
    axis = -1 if draw.chance(0.6) else draw.integer(0, len(shape) - 1)
    pair = []
    for _ in range(2):
        shape[axis] = 2 if draw.chance(0.2) else 3
        pair.append(TensorType(dtype, tuple(shape[-1:] if axis == -1 and draw.chance(0.2) else shape)))
    return tuple(pair)


_two(
    "cross",
    output_ranks=range(6),
    params={"axisa": _VECTOR_AXIS, "axisb": _VECTOR_AXIS, "axisc": _VECTOR_AXIS, "axis": _COMMON_AXIS},
    rules={
        "axes hold vectors of 2 or 3": _holds_vectors,
        "shapes can be broadcast": lambda x, p: _holds_vectors(x, p) and _others(x, p) is not None,
        "the result has the axis": Ours(lambda x, p: _holds_vectors(x, p) and _result_has_axis(x, p)),
    },
    shape=_cross_shape,
    inputs=_draw_vectors,
    doc="The cross product of vectors in space; a missing third number is 0, and of two such the third is the result.",
)


def _correlate_shape(x: Types, p: Params) -> Shape:
    longer, shorter = sorted((kind.elements for kind in x), reverse=True)
    return ({"valid": longer - shorter + 1, "same": longer, "full": longer + shorter - 1}[p.mode],)


_two(
    "correlate",
    output_ranks=(1,),
    ranks=(1,),
    params={"mode": Choice("valid", "same", "full")},
    rules={
        "both are vectors": lambda x, p: x[1].rank == 1,
        "no vector is empty": Ours(lambda x, p: all(kind.elements > 0 for kind in x)),
    },
    shape=_correlate_shape,
    inputs=lambda draw: tuple(TensorType(dtype, (draw.integer(1, 9),)) for dtype in (draw_dtype(draw, FLOATS),) * 2),
    doc="The sums of products of a vector with another that is moved along it.",
)


def _draw_points(draw: Draw) -> Types:
    dtype, left = draw_dtype(draw, FLOATS), draw_shape(draw, draw.integer(2, 4), high=6)
    batch = tuple(1 if draw.chance(0.3) else size for size in left[draw.choice((0, 0, len(left) - 2)) : -2])
    return TensorType(dtype, left), TensorType(dtype, (*batch, draw.integer(1, 5), left[-1]))


_two(
    "cdist",
    output_ranks=range(2, 6),
    ranks=range(2, 6),
    rules={
        "both have points": lambda x, p: x[1].rank >= 2,
        "points have one size": lambda x, p: x[0].shape[-1] == x[1].shape[-1],
        "batches can be broadcast": lambda x, p: broadcast(x[0].shape[:-2], x[1].shape[:-2]) is not None,
    },
    shape=lambda x, p: (
        *(broadcast(x[0].shape[:-2], x[1].shape[:-2]) or ()),
        x[0].shape[-2],
        x[1].shape[-2],
    ),
    inputs=_draw_points,
    doc="The Euclidean distance of each point of the first from each of the second.",
)
