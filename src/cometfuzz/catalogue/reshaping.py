"""Reshaping layers: elements moved, repeated, cropped, padded or interpolated; and Masking.

Integers only where Keras infers their dtype: Cropping, ZeroPadding, RepeatVector and UpSampling pass them on as they
are, but say float32 of the symbolic result.
"""

import math
from typing import Any

from cometfuzz.catalogue.fitting import FittingChoice
from cometfuzz.catalogue.shapes import channels, spatial, with_channels
from cometfuzz.catalogue.spaces import DATA_FORMAT, Computed, Floats, Ints, PerAxis, Space
from cometfuzz.catalogue.spec import KERAS3, Shape, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, MAX_RANK, TensorType

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")
_NUMBERS = (*FLOATS, "int32")


def interpolations(simplest: str) -> FittingChoice:
    """How to interpolate; what few backends do right (cubic) or at all (Lanczos) is drawn less often."""
    often = INTERPOLATIONS[:2] * 3 + INTERPOLATIONS
    return FittingChoice(*INTERPOLATIONS, simplest=simplest, fit=lambda x, p: often)


layer(
    "Masking",
    ranks=(3,),
    params={"mask_value": Floats(-1, 1, 0, step=0.5)},
    shape=lambda x, p: x.shape,
    mask=lambda x, p: True,
    libraries=(KERAS3,),
    doc="Masks and zeroes the steps whose features all equal mask_value.",
)

layer(
    "Identity",
    ranks=range(2, 7),
    dtypes=_NUMBERS,
    shape=lambda x, p: x.shape,
    mask=lambda x, p: x.masked,
    high=lambda x, p: x.high,
    libraries=(KERAS3,),
    doc="The input as it is.",
)


def _is_target(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and 1 <= len(value) < MAX_RANK
        and all(type(size) is int and -1 <= size <= 2**24 for size in value)
        and value.count(-1) <= 1
    )


def _draw_target(draw: Draw, x: TensorType, p: Params) -> tuple[int, ...]:
    """The elements of one sample spread over one to five axes; now and then one of them is left to be inferred."""
    axes = [1] * draw.integer(1, 5)
    if x.elements == 0:
        return x.shape[1:]
    rest, factor = math.prod(x.shape[1:]), 2
    while rest > 1:
        while rest % factor:
            factor += 1
        axes[draw.integer(0, len(axes) - 1)] *= factor
        rest //= factor
    if draw.chance(0.3):
        axes[draw.integer(0, len(axes) - 1)] = -1
    return tuple(axes)


def _resolved(x: TensorType, p: Params) -> Shape:
    """The target shape with -1 resolved; 0 where it cannot be."""
    known = math.prod(size for size in p.target_shape if size != -1)
    inferred = math.prod(x.shape[1:]) // known if known else 0
    return tuple(inferred if size == -1 else size for size in p.target_shape)


layer(
    "Reshape",
    ranks=range(2, 7),
    output_ranks=range(2, 7),
    dtypes=_NUMBERS,
    params={
        "target_shape": Computed(
            "sizes of a sample, one of which may be -1",
            simplest=(-1,),
            check=_is_target,
            draw=_draw_target,
            wrong=((-1, -1), (-2,)),
        )
    },
    rules={
        "same number of elements": lambda x, p: math.prod(_resolved(x, p)) == math.prod(x.shape[1:]),
        "only one size can be inferred": lambda x, p: -1 not in p.target_shape or math.prod(x.shape[1:]) > 0,
    },
    shape=lambda x, p: (x.shape[0], *_resolved(x, p)),
    high=lambda x, p: x.high,
    libraries=(KERAS3,),
    doc="The elements of each sample in another shape, row by row.",
)

layer(
    "Flatten",
    ranks=range(2, 7),
    output_ranks=(2,),
    dtypes=_NUMBERS,
    params={"data_format": DATA_FORMAT},
    shape=lambda x, p: (x.shape[0], math.prod(x.shape[1:])),
    high=lambda x, p: x.high,
    doc="All axes but the batch in one, channels last.",
)


def _is_permutation(value: object) -> bool:
    return isinstance(value, tuple) and 1 <= len(value) < MAX_RANK and sorted(value) == list(range(1, len(value) + 1))


layer(
    "Permute",
    ranks=range(2, 7),
    dtypes=_NUMBERS,
    params={
        "dims": Computed(
            "a permutation of the axes behind the batch, counted from 1",
            simplest=(2, 1),
            check=_is_permutation,
            draw=lambda draw, x, p: tuple(draw.shuffled(range(1, x.rank))),
            wrong=((1, 1), (0, 1)),
        )
    },
    rules={"one entry for each axis": lambda x, p: len(p.dims) == x.rank - 1},
    shape=lambda x, p: (x.shape[0], *(x.shape[axis] for axis in p.dims)),
    high=lambda x, p: x.high,
    doc="The axes behind the batch in another order.",
)

layer(
    "RepeatVector",
    ranks=(2,),
    output_ranks=(3,),
    params={"n": Ints(1, 8, rare=(0,))},
    shape=lambda x, p: (x.shape[0], p.n, x.shape[1]),
    doc="Each sample n times, as the steps of a sequence.",
)


def _pairs(axes: int, simplest: Any, high: int) -> Computed:
    """(before, after) for each of `axes` axes; for a single axis just one pair, as Keras writes it."""

    def is_pair(value: object) -> bool:
        return isinstance(value, tuple) and len(value) == 2 and all(type(n) is int and 0 <= n <= 2**20 for n in value)

    def check(value: object) -> bool:
        if axes == 1:
            return is_pair(value)
        return isinstance(value, tuple) and len(value) == axes and all(map(is_pair, value))

    def draw_pair(draw: Draw) -> tuple[int, int]:
        before = draw.integer(0, high)
        return before, before if draw.chance(0.3) else draw.integer(0, high)

    def draw_pairs(draw: Draw, x: TensorType, p: Params) -> Any:
        return draw_pair(draw) if axes == 1 else tuple(draw_pair(draw) for _ in range(axes))

    negative = (-1, 0) if axes == 1 else ((-1, 0),) + ((0, 0),) * (axes - 1)
    text = "(before, after) for each spatial axis"
    return Computed(text, simplest=simplest, check=check, draw=draw_pairs, wrong=[negative])


def _spatial(x: TensorType, p: Params) -> Shape:
    """The spatial sizes; the one-dimensional layers have no data_format and take channels last."""
    return spatial(x, p) if "data_format" in p else x.shape[1:-1]


def _resized(x: TensorType, p: Params, sizes: Shape) -> Shape:
    if "data_format" in p:
        return with_channels(x.shape[0], sizes, channels(x, p), p.data_format)
    return (x.shape[0], *sizes, x.shape[-1])


def as_pairs(value: Any) -> tuple[tuple[int, int], ...]:
    """The amounts of Cropping or ZeroPadding as one pair for each axis, also for a single axis."""
    return value if isinstance(value[0], tuple) else (value,)


def _cropped(x: TensorType, p: Params) -> Shape:
    return tuple(n - before - after for n, (before, after) in zip(_spatial(x, p), as_pairs(p.cropping), strict=True))


def _padded(x: TensorType, p: Params) -> Shape:
    return tuple(n + before + after for n, (before, after) in zip(_spatial(x, p), as_pairs(p.padding), strict=True))


def _repeated(x: TensorType, p: Params) -> Shape:
    sizes = _spatial(x, p)
    factors = p.size if isinstance(p.size, tuple) else (p.size,)
    return tuple(n * factor for n, factor in zip(sizes, factors, strict=True))


def _declare(axes: int) -> None:
    """Cropping, ZeroPadding and UpSampling with this number of spatial axes."""
    formats: dict[str, Space] = {"data_format": DATA_FORMAT} if axes > 1 else {}
    ones = (1, 1) if axes == 1 else ((1, 1),) * axes
    layer(
        f"Cropping{axes}D",
        ranks=(axes + 2,),
        params={"cropping": _pairs(axes, ((0, 0),) * 2 if axes == 2 else ones, 3), **formats},
        rules={"something is left": lambda x, p: min(_cropped(x, p)) >= 1},
        shape=lambda x, p: _resized(x, p, _cropped(x, p)),
        doc="The inner part along the spatial axes.",
    )
    layer(
        f"ZeroPadding{axes}D",
        ranks=(axes + 2,),
        params={"padding": _pairs(axes, ones, 4), "data_format": DATA_FORMAT},
        shape=lambda x, p: _resized(x, p, _padded(x, p)),
        doc="A border of zeros along the spatial axes.",
    )
    factor = Ints(1, 4, simplest=2)
    interpolation: dict[str, Space] = {"interpolation": interpolations("nearest")} if axes == 2 else {}
    layer(
        f"UpSampling{axes}D",
        ranks=(axes + 2,),
        params={"size": factor if axes == 1 else PerAxis(axes, factor), **formats, **interpolation},
        rules={
            "there is something to interpolate": lambda x, p: (
                p.get("interpolation", "nearest") == "nearest" or min(spatial(x, p)) >= 1
            )
        },
        shape=lambda x, p: _resized(x, p, _repeated(x, p)),
        doc="Each element of the spatial axes size times" + (", or interpolated." if axes == 2 else "."),
    )


for _axes in (1, 2, 3):
    _declare(_axes)
