"""Operators that repeat the elements of a tensor, put others around them, or keep a diagonal of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import (
    AXIS_EXISTS,
    NUMBERS,
    RANKS,
    SMALL,
    axes_of,
    axis_space,
    draw_tensor,
)
from cometfuzz.catalogue.operators.arranging import (
    ANYTHING,
    TWO_AXES,
    draw_with_ones,
    is_ints,
    moving,
    named_axes_exist,
)
from cometfuzz.catalogue.spaces import Choice, Computed, Ints
from cometfuzz.catalogue.spec import Ours, Rule, Shape, unbounded
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import MAX_RANK, TensorType

FEW = 4096
"""How many elements may be multiplied by what an operator repeats, so that results stay small."""

# -- repeated elements -------------------------------------------------------------------------------------------------

_NOT_MUCH: Mapping[str, Rule] = {"not many elements": Ours(lambda x, p: x.elements <= FEW)}


def _draw_repeats(draw: Draw, x: TensorType, p: Params) -> int | tuple[int, ...]:
    size = x.elements if p.axis is None else x.shape[p.axis]
    if size > 12 or size == 0 or draw.chance(0.6):
        return draw.integer(0 if draw.chance(0.1) else 1, 4)
    return tuple(draw.integer(0, 3) for _ in range(size))


def _repeated(x: TensorType, p: Params) -> Shape:
    return tuple(np.repeat(np.empty(x.shape, bool), p.repeats, p.axis).shape)


def _a_repeat_each(x: TensorType, p: Params) -> bool:
    """One number for all, or one for each element; np.repeat also takes a tuple of one."""
    if not isinstance(p.repeats, tuple):
        return True
    if p.axis is not None and not -x.rank <= p.axis < x.rank:
        return False
    return len(p.repeats) == (x.elements if p.axis is None else x.shape[p.axis])


moving(
    "repeat",
    lambda x, axis, repeats: np.repeat(x, repeats, axis),
    params={
        "axis": axis_space(None, none=True),
        "repeats": Computed(
            "a number of repetitions, or one for each element",
            simplest=2,
            check=lambda value: is_ints(value if isinstance(value, tuple) else (value,), 0, 9, range(1, 65)),
            draw=_draw_repeats,
            wrong=(-1,),
        ),
    },
    rules={**_NOT_MUCH, **AXIS_EXISTS, "a repetition for each": _a_repeat_each},
    shape=_repeated,
)


def _draw_tiles(draw: Draw, x: TensorType, p: Params) -> int | tuple[int, ...]:
    if draw.chance(0.2):
        return draw.integer(1, 3)
    return tuple(draw.integer(0 if draw.chance(0.05) else 1, 3) for _ in range(draw.integer(1, x.rank + 1)))


moving(
    "tile",
    lambda x, repeats: np.tile(x, repeats),
    params={
        "repeats": Computed(
            "a number of repetitions for each of the last axes",
            simplest=(2,),
            check=lambda value: is_ints(value if isinstance(value, tuple) else (value,), 0, 9, range(1, 8)),
            draw=_draw_tiles,
        ),
    },
    rules=_NOT_MUCH,
    shape=lambda x, p: np.tile(np.empty(x.shape, bool), p.repeats).shape,
    output_ranks=range(1, 8),
)


def _draw_wider(draw: Draw, x: TensorType, p: Params) -> Shape:
    before = tuple(draw.integer(1, 3) for _ in range(draw.integer(0, 2)))
    return (*before, *(draw.integer(1, 5) if size == 1 else size for size in x.shape))


def _can_be_broadcast(x: TensorType, p: Params) -> bool:
    own = p.shape[max(0, len(p.shape) - x.rank) :]
    return len(p.shape) >= x.rank and all(a in (1, b) for a, b in zip(x.shape, own, strict=True))


moving(
    "broadcast_to",
    lambda x, shape: np.broadcast_to(x, shape),
    params={
        "shape": Computed(
            "a shape", simplest=(1,), check=lambda value: is_ints(value, 0, 4096, range(1, 9)), draw=_draw_wider
        )
    },
    rules={**_NOT_MUCH, "it can be broadcast": _can_be_broadcast},
    shape=lambda x, p: p.shape,
    inputs=draw_with_ones,
    output_ranks=range(1, 8),
)

# -- padding -----------------------------------------------------------------------------------------------------------


def pads(p: Params, rank: int) -> tuple[tuple[int, int], ...]:
    """How much is put before and behind each axis, in whichever form it is given."""
    width = p.pad_width
    if not isinstance(width, tuple) or not isinstance(width[0], tuple):
        (width,) = width if isinstance(width, tuple) else (width,)
        return ((width, width),) * rank
    return width * rank if len(width) == 1 else width


def _is_pad_width(value: object) -> bool:
    if not isinstance(value, tuple):
        value = (value,)
    if is_ints(value, 0, 64, (1,)):
        return True
    return 1 <= len(value) <= MAX_RANK and all(is_ints(pair, 0, 64, (2,)) for pair in value)


def _draw_pad_width(draw: Draw, x: TensorType, p: Params) -> Any:
    most = {"reflect": -1, "symmetric": 0}.get(p.mode, 3)
    least = min(x.shape, default=0) + most
    if draw.chance(0.2) and least >= 0:
        width = draw.integer(0, min(3, least))
        return draw.choice((width, (width,), ((width, draw.integer(0, min(3, least))),)))
    tops = [min(3, 3 if p.mode == "constant" else size + most) for size in x.shape]
    return tuple(tuple(draw.integer(0, max(0, top)) if draw.chance(0.6) else 0 for _ in "ab") for top in tops)


def _draw_constant(draw: Draw, x: TensorType, p: Params) -> Any:
    if p.mode != "constant" or x.dtype == "bool" or draw.chance(0.3):
        return None
    return draw.integer(0, 8) if x.dtype == "int32" else draw.integer(-32, 32) / 4


def _padded(x: TensorType, p: Params) -> Shape:
    return tuple(before + size + after for size, (before, after) in zip(x.shape, pads(p, x.rank), strict=True))


def _mirrors_fit(x: TensorType, p: Params) -> bool:
    least = {"reflect": 1, "symmetric": 0}.get(p.mode)
    pairs = pads(p, x.rank)
    return (
        least is None
        or len(pairs) != x.rank
        or all(max(pair) == 0 or max(pair) <= size - least for size, pair in zip(x.shape, pairs, strict=True))
    )


def _constant_fits(x: TensorType, p: Params) -> bool:
    if p.constant_values is None:
        return True
    return x.dtype != "bool" and (x.is_float or (type(p.constant_values) is int and p.constant_values >= 0))


def _pad_high(x: TensorType, p: Params) -> int | None:
    return None if x.high is None else max(x.high, int(p.constant_values or 0) + 1)


# The modes that all backends say they have.
moving(
    "pad",
    None,
    params={
        "mode": Choice("constant", "reflect", "symmetric"),
        "pad_width": Computed(
            "before and behind, for each axis or for all", simplest=1, check=_is_pad_width, draw=_draw_pad_width
        ),
        "constant_values": Computed(
            "null or a number",
            simplest=None,
            check=lambda value: value is None or (type(value) in (int, float) and abs(value) <= 1000),
            draw=_draw_constant,
        ),
    },
    rules={
        "a width for each axis": lambda x, p: len(pads(p, x.rank)) == x.rank,
        "a constant for constant padding only": lambda x, p: p.constant_values is None or p.mode == "constant",
        "the constant is of the tensor's dtype": Ours(_constant_fits),
        "what is mirrored is there": Ours(_mirrors_fit),
    },
    shape=_padded,
    high=_pad_high,
)

# -- diagonals ---------------------------------------------------------------------------------------------------------

for _name, _of in (("tril", np.tril), ("triu", np.triu)):
    moving(
        _name,
        lambda x, k, of=_of: of(x, k),
        ranks=RANKS[1:],
        params={"k": Ints(-5, 5, 0)},
        shape=lambda x, p: x.shape,
    )


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    return max(0, min(rows + min(0, offset), columns - max(0, offset)))


def _diag_shape(x: TensorType, p: Params) -> Shape:
    if x.rank == 2:
        return (_diagonal_length(x.shape[0], x.shape[1], p.k),)
    return (x.shape[0] + abs(p.k),) * 2


moving(
    "diag",
    lambda x, k: np.diag(x, k),
    ranks=(1, 2),
    params={"k": Ints(-4, 4, 0)},
    shape=_diag_shape,
)
moving(
    "diagflat",
    lambda x, k: np.diagflat(x, k),
    params={"k": Ints(-4, 4, 0)},
    rules={"few elements": Ours(lambda x, p: x.elements <= 100)},
    shape=lambda x, p: (x.elements + abs(p.k),) * 2,
    inputs=lambda draw: (draw_tensor(draw, RANKS[:3], ANYTHING),),
    output_ranks=(2,),
)


def _without_plane(x: TensorType, p: Params) -> Shape:
    gone = axes_of((p.axis1, p.axis2), x.rank)
    return tuple(size for axis, size in enumerate(x.shape) if axis not in gone)


_AXES_DIFFER: Mapping[str, Rule] = {"axes exist and differ": named_axes_exist("axis1", "axis2")}
_DIAGONAL = {"offset": Ints(-4, 4, 0), **TWO_AXES}
moving(
    "diagonal",
    lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    ranks=RANKS[1:],
    params=_DIAGONAL,
    rules=_AXES_DIFFER,
    shape=lambda x, p: (*_without_plane(x, p), _diagonal_length(x.shape[p.axis1], x.shape[p.axis2], p.offset)),
    output_ranks=RANKS[:-1],
)
moving(
    "trace",
    None,
    ranks=RANKS[1:],
    dtypes=NUMBERS,
    params=_DIAGONAL,
    rules={**SMALL, **_AXES_DIFFER},
    shape=_without_plane,
    high=unbounded,
    output_ranks=range(4),
)
