"""Operators on images, single ones or batches: sizes, transforms, patches, filters, colours, likeness.

Integers are left out: what is interpolated would have to be rounded, and nobody says how. Left out as well: Lanczos'
kernels of `resize`, which are not documented there, and what of `affine_transform` only TensorFlow heeds (c0, c1).
"""

import math
from collections.abc import Mapping
from typing import Any

from cometfuzz.catalogue.fitting import FittingChoice
from cometfuzz.catalogue.operators import RANKS, Types, draw_dtype, draw_tensor, operator
from cometfuzz.catalogue.operators.arranging import is_ints
from cometfuzz.catalogue.shapes import ones, window, with_channels
from cometfuzz.catalogue.spaces import DATA_FORMAT, SAME_OR_VALID, Choice, Computed, Floats, Ints, Optional, PerAxis
from cometfuzz.catalogue.spec import Ours, Rule, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

IMAGES = (3, 4)
"""A single image, or a batch of them."""


def places(x: TensorType, p: Params, axes: int = 2) -> Shape:
    """The sizes of the spatial axes, with or without a batch."""
    return x.shape[-1 - axes : -1] if p.data_format == "channels_last" else x.shape[-axes:]


def depth(x: TensorType, p: Params, axes: int = 2) -> int:
    """How many channels images have."""
    return x.shape[-1] if p.data_format == "channels_last" else x.shape[-1 - axes]


def reshaped(x: TensorType, p: Params, sizes: Shape, channels: int) -> Shape:
    """The shape of images of other sizes."""
    whole = with_channels(0, sizes, channels, p.data_format)[1:]
    return (*x.shape[: x.rank - len(whole)], *whole)


def _draw_images(draw: Draw) -> Types:
    return (draw_tensor(draw, IMAGES, FLOATS),)


_NOT_EMPTY: Mapping[str, Rule] = {"there is an image": Ours(lambda x, p: x.elements > 0)}

# -- other sizes -------------------------------------------------------------------------------------------------------

_OFTEN = ("nearest", "bilinear", "nearest", "bilinear", "bicubic")
operator(
    "image.resize",
    ranks=IMAGES,
    params={
        "size": PerAxis(2, Ints(1, 9)),
        "interpolation": FittingChoice("nearest", "bilinear", "bicubic", simplest="bilinear", fit=lambda x, p: _OFTEN),
        "antialias": Choice(False, True),
        "crop_to_aspect_ratio": Choice(False, True),
        "pad_to_aspect_ratio": Choice(False, True),
        "fill_value": Floats(-1, 1, 0, step=0.5),
        "data_format": DATA_FORMAT,
    },
    rules={
        **_NOT_EMPTY,
        "crop or pad, not both": lambda x, p: not (p.crop_to_aspect_ratio and p.pad_to_aspect_ratio),
    },
    shape=lambda x, p: reshaped(x, p, p.size, depth(x, p)),
)

_SIDES = (("top", "bottom", "height"), ("left", "right", "width"))


def sides(x: TensorType, p: Params, of: str) -> list[tuple[int, int, int]]:
    """Before, behind and the size that is to come, for both axes; `of` is "padding" or "cropping"."""
    sign, found = (1 if of == "padding" else -1), []
    for size, (before, behind, target) in zip(places(x, p), _SIDES, strict=True):
        first, last, whole = p[f"{before}_{of}"], p[f"{behind}_{of}"], p[f"target_{target}"]
        if whole is None:
            whole = size + sign * ((first or 0) + (last or 0))
        elif first is None:
            first = sign * (whole - size) - (last or 0)
        else:
            last = sign * (whole - size) - first
        found.append((first or 0, last or 0, whole))
    return found


def _two_of_three(of: str) -> Any:
    return lambda x, p: all(
        [p[f"{before}_{of}"], p[f"{behind}_{of}"], p[f"target_{target}"]].count(None) == 1
        for before, behind, target in _SIDES
    )


def _side_space(of: str, place: int, index: int) -> Computed:
    """One of three numbers, any two of which say all: the last one to be drawn is left out, or the one before it."""
    before, behind, target = _SIDES[place]
    names = (f"{before}_{of}", f"{behind}_{of}", f"target_{target}")

    def draw_side(draw: Draw, x: TensorType, p: Params) -> int | None:
        missing = any(p[name] is None for name in names[:index])
        if not missing and (index == 2 or draw.chance(0.3)):
            return None
        size = x.shape[place + (1 if draw.chance(0.5) else 2) - (4 - x.rank)]
        if of == "padding":
            return size + draw.integer(0, 6) if index == 2 else draw.integer(0, 4)
        return draw.integer(0, max(0, size)) if index == 2 else draw.integer(0, max(0, size // 2))

    return Computed(
        "null or a number of pixels; two of three are given",
        simplest=None if index == 2 else 0,
        check=lambda value: value is None or is_ints((value,), 0, 4096, (1,)),
        draw=draw_side,
    )


for _name, _of in (("image.pad_images", "padding"), ("image.crop_images", "cropping")):

    def _sized(x: TensorType, p: Params, of: str = _of) -> Shape:
        return reshaped(x, p, tuple(whole for _, _, whole in sides(x, p, of)), depth(x, p))

    def _fit(x: TensorType, p: Params, of: str = _of) -> bool:
        return not _two_of_three(of)(x, p) or min(min(side) for side in sides(x, p, of)) >= 0

    operator(
        _name,
        ranks=IMAGES,
        params={
            "data_format": DATA_FORMAT,
            **{
                (f"{names[index]}_{_of}" if index < 2 else f"target_{names[2]}"): _side_space(_of, place, index)
                for index in range(3)
                for place, names in enumerate(_SIDES)
            },
        },
        rules={"two of three are given": _two_of_three(_of), "sizes fit": _fit},
        shape=_sized,
    )

# -- transforms --------------------------------------------------------------------------------------------------------


def _is_numbers(count: int) -> Any:
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == count
        and all(type(each) is float and abs(each) <= 1000 for each in value)
    )


def _draw_transform(draw: Draw, x: TensorType, p: Params) -> tuple[float, ...]:
    """Quarters, of which all places are exact; no perspective."""
    rows = [(*(draw.integer(-4, 6) / 4 for _ in "xy"), draw.integer(-8, 8) / 4) for _ in "ab"]
    return (*rows[0], *rows[1], 0.0, 0.0)


operator(
    "image.affine_transform",
    ranks=IMAGES,
    params={
        "transform": Computed(
            "eight numbers, the last two 0",
            simplest=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            check=_is_numbers(8),
            draw=_draw_transform,
        ),
        "interpolation": Choice("bilinear", "nearest"),
        "fill_mode": Choice("constant", "nearest", "wrap", "reflect"),
        "fill_value": Floats(-1, 1, 0, step=0.5),
        "data_format": DATA_FORMAT,
    },
    rules={**_NOT_EMPTY, "no perspective": Ours(lambda x, p: p.transform[6:] == (0.0, 0.0))},
    shape=lambda x, p: x.shape,
    doc="One transform for all images: where in the input each pixel of the result comes from.",
)


def _draw_coordinates(draw: Draw) -> Types:
    dtype, shape = draw_dtype(draw, FLOATS), draw_shape(draw, draw.integer(1, 4), low=2, high=5)
    return TensorType(dtype, shape), TensorType(
        dtype, (len(shape), *draw_shape(draw, draw.choice((1, 1, 2, 2, 3, 3, 4, 5)), high=5))
    )


operator(
    "image.map_coordinates",
    ranks=range(1, 5),
    arity=(2, 2),
    params={
        "order": Choice(1, 0),
        "fill_mode": Choice("constant", "nearest", "wrap", "mirror", "reflect"),
        "fill_value": Floats(-1, 1, 0, step=0.5),
    },
    rules={
        "a row of coordinates for each axis": lambda x, p: x[1].rank >= 2 and x[1].shape[0] == x[0].rank,
        "there is something to look at": Ours(lambda x, p: x[0].elements > 0),
        "something to mirror": Ours(lambda x, p: p.fill_mode != "mirror" or min(x[0].shape) > 1),
    },
    shape=lambda x, p: x[1].shape[1:],
    inputs=_draw_coordinates,
    output_ranks=RANKS,
)


def _draw_target(draw: Draw, x: TensorType, p: Params) -> Shape:
    return tuple(draw.integer(1, 7) if axis in p.spatial_dims else size for axis, size in enumerate(x.shape))


def _draw_each(low: int, high: int) -> Any:
    return lambda draw, x, p: tuple(draw.integer(low, high) / 4 for _ in p.spatial_dims)


def _is_some_numbers(value: object) -> bool:
    return isinstance(value, tuple) and 1 <= len(value) <= 8 and bool(_is_numbers(len(value))(value))


operator(
    "image.scale_and_translate",
    ranks=RANKS,
    params={
        "spatial_dims": Computed(
            "axes",
            simplest=(0,),
            check=lambda value: is_ints(value, 0, 7, range(1, 9)),
            draw=lambda draw, x, p: tuple(sorted(draw.shuffled(range(x.rank))[: draw.integer(1, min(2, x.rank))])),
        ),
        "output_shape": Computed(
            "a shape", simplest=(1,), check=lambda value: is_ints(value, 0, 4096, range(1, 9)), draw=_draw_target
        ),
        "scale": Computed("a factor for each axis", simplest=(1.0,), check=_is_some_numbers, draw=_draw_each(1, 12)),
        "translation": Computed(
            "a number of pixels for each axis", simplest=(0.0,), check=_is_some_numbers, draw=_draw_each(-8, 8)
        ),
        "method": Choice("linear", "cubic", "lanczos3", "lanczos5"),
        "antialias": Choice(True, False),
    },
    rules={
        **_NOT_EMPTY,
        "axes exist and differ": Ours(
            lambda x, p: max(p.spatial_dims) < x.rank and len(set(p.spatial_dims)) == len(p.spatial_dims)
        ),
        "numbers for each axis": Ours(lambda x, p: len(p.scale) == len(p.translation) == len(p.spatial_dims)),
        "only these axes have other sizes": Ours(
            lambda x, p: (
                len(p.output_shape) == x.rank
                and all(axis in p.spatial_dims or size == p.output_shape[axis] for axis, size in enumerate(x.shape))
            )
        ),
        "factors are positive": Ours(lambda x, p: min(p.scale) > 0),
    },
    shape=lambda x, p: p.output_shape,
)

# -- patches and filters -----------------------------------------------------------------------------------------------


def _extracting(name: str, axes: int) -> None:
    """Declare an operator that cuts patches with so many axes."""

    def counts(x: TensorType, p: Params) -> Shape:
        return window(places(x, p, axes), p.size, p.strides or p.size, (p.dilation_rate,) * axes, p.padding)

    operator(
        name,
        ranks=(axes + 1, axes + 2),
        params={
            "size": PerAxis(axes, Ints(1, 3)),
            "strides": Optional(PerAxis(axes, Ints(1, 3))),
            "dilation_rate": Ints(1, 2),
            "padding": SAME_OR_VALID,
            "data_format": DATA_FORMAT,
        },
        rules={
            **_NOT_EMPTY,
            "patches fit": lambda x, p: min(counts(x, p)) >= 1,
            "strides or dilation, not both": Ours(lambda x, p: p.dilation_rate == 1 or ones(p.strides or p.size)),
        },
        shape=lambda x, p: reshaped(x, p, counts(x, p), math.prod(p.size) * depth(x, p, axes)),
    )


_extracting("image.extract_patches", 2)
_extracting("image.extract_patches_3d", 3)
operator(
    "image.gaussian_blur",
    ranks=IMAGES,
    params={
        "kernel_size": PerAxis(2, Choice(3, 1, 5)),
        "sigma": PerAxis(2, Floats(0.5, 2, 1, step=0.25)),
        "data_format": DATA_FORMAT,
    },
    rules=_NOT_EMPTY,
    shape=lambda x, p: x.shape,
    doc="A normal distribution of so many pixels; zeros beyond the edges.",
)
operator(
    "image.sobel_edges",
    ranks=(4,),
    params={"data_format": DATA_FORMAT},
    rules={"there is an inner pixel": Ours(lambda x, p: x.elements > 0 and min(places(x, p)) >= 2)},
    shape=lambda x, p: (*x.shape, 2),
    output_ranks=(5,),
    doc="How much images grow downwards, then to the right; what lies beyond the edges is left open.",
)

# -- colours -----------------------------------------------------------------------------------------------------------


def _draw_colours(draw: Draw) -> Types:
    kind = draw_tensor(draw, IMAGES, FLOATS)
    sizes = list(kind.shape)
    sizes[draw.choice((-1, -3))] = 3 if draw.chance(0.9) else 1
    return (TensorType(kind.dtype, tuple(sizes)),)


for _name in ("image.rgb_to_hsv", "image.hsv_to_rgb"):
    operator(
        _name,
        ranks=IMAGES,
        params={"data_format": DATA_FORMAT},
        rules={**_NOT_EMPTY, "three channels": lambda x, p: depth(x, p) == 3},
        shape=lambda x, p: x.shape,
        inputs=_draw_colours,
        doc="Only pixels from 0 to 1 are judged: of others nothing is said.",
    )
operator(
    "image.rgb_to_grayscale",
    ranks=IMAGES,
    params={"data_format": DATA_FORMAT},
    rules={**_NOT_EMPTY, "three channels or one": lambda x, p: depth(x, p) in (1, 3)},
    shape=lambda x, p: reshaped(x, p, places(x, p), 1),
    inputs=_draw_colours,
)

# -- likeness ----------------------------------------------------------------------------------------------------------


def _draw_two(ranks: Any) -> Any:
    return lambda draw: (draw_tensor(draw, ranks, FLOATS),) * 2


def _draw_pair_of_images(draw: Draw) -> Types:
    """Images of any size, or such that the usual filter of eleven pixels fits."""
    kind = draw_tensor(draw, IMAGES, FLOATS)
    if draw.chance(0.3):
        sizes = (draw.integer(11, 13), draw.integer(11, 13))
        places = (*sizes, draw.integer(1, 3)) if draw.chance(0.5) else (draw.integer(1, 3), *sizes)
        kind = TensorType(kind.dtype, (*kind.shape[:-3], *places))
    return kind, kind


_ALIKE: Mapping[str, Rule] = {
    "both have one shape": lambda x, p: x[0].shape == x[1].shape,
    "there is something to compare": Ours(lambda x, p: x[0].elements > 0),
}
operator(
    "psnr",
    arity=(2, 2),
    params={"max_val": Floats(0.5, 4, 1, step=0.5)},
    rules=_ALIKE,
    shape=lambda x, p: (),
    inputs=_draw_two(RANKS),
    output_ranks=(0,),
)
operator(
    "image.ssim",
    ranks=IMAGES,
    arity=(2, 2),
    params={
        "max_val": Floats(0.5, 4, 1, step=0.5),
        "filter_size": Choice(3, 5, 11, simplest=11),
        "filter_sigma": Floats(0.5, 2, 1.5, step=0.25),
        "k1": Floats(0.01, 0.1, 0.01, step=0.01),
        "k2": Floats(0.03, 0.1, 0.03, step=0.01),
        "data_format": DATA_FORMAT,
    },
    rules={**_ALIKE, "the filter fits": Ours(lambda x, p: min(places(x[0], p)) >= p.filter_size)},
    shape=lambda x, p: x[0].shape[:-3],
    inputs=_draw_pair_of_images,
    output_ranks=(0, 1),
)
