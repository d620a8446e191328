"""Pooling and convolution as operators: kernels are tensors, and a number may stand for all axes."""

from collections.abc import Mapping
from typing import Any

from cometfuzz.catalogue.convolution import transposed_places
from cometfuzz.catalogue.operators import Types, draw_dtype, many, operator
from cometfuzz.catalogue.shapes import channels, ones, spatial, window, with_channels
from cometfuzz.catalogue.spaces import DATA_FORMAT, SAME_OR_VALID, Computed, Optional, Seldom
from cometfuzz.catalogue.spec import Ours, Rule, Shape, draw_shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

_MOST = 64


def _is_size(value: object, low: int) -> bool:
    return type(value) is int and low <= value <= _MOST


def sizes_space(low: int, high: int, simplest: int, plain: float = 0.0) -> Computed:
    """One integer for all spatial axes, or one for each; `plain`: how often it is the simplest."""

    def draw_sizes(draw: Draw, x: Any, p: Params) -> Any:
        if draw.chance(plain):
            return simplest
        if draw.chance(0.5):
            return draw.integer(low, high)
        return tuple(draw.integer(low, high) for _ in range(many(x)[0].rank - 2))

    def check(value: object) -> bool:
        if isinstance(value, tuple):
            return 1 <= len(value) <= 3 and all(_is_size(each, low) for each in value)
        return _is_size(value, low)

    return Computed(
        f"an integer from {low}, or one for each spatial axis", simplest=simplest, check=check, draw=draw_sizes
    )


_PER_AXIS = ("pool_size", "strides", "dilation_rate", "output_size", "output_padding")


def _has_axes(x: Any, p: Params) -> bool:
    axes = many(x)[0].rank - 2
    return all(len(p[name]) == axes for name in _PER_AXIS if isinstance(p.get(name), tuple))


SIZES_FOR_ALL_AXES: Mapping[str, Rule] = {"a size for each axis": _has_axes}
DATA_FORMAT_SELDOM = Seldom(*DATA_FORMAT.values, seldom="channels_first", chance=0.25)


def spread(x: Any, p: Params) -> Params:
    """The parameters with a number for each axis, as layers have them; the kernel's size is that of its tensor."""
    first, *kernels = many(x)
    axes = first.rank - 2
    known = {
        name: (p[name],) * axes if type(p[name]) is int else p[name]
        for name in _PER_AXIS
        if name in p and (type(p[name]) is int or isinstance(p[name], tuple))
    }
    return p.replace(**known, **({"kernel_size": kernels[0].shape[:axes]} if kernels else {}))


# -- pooling -----------------------------------------------------------------------------------------------------------


def _places(x: TensorType, p: Params) -> Shape:
    whole = spread(x, p)
    sizes = spatial(x, p)
    return window(sizes, whole.pool_size, whole.strides or whole.pool_size, (1,) * len(sizes), p.padding)


def _pool_shape(x: TensorType, p: Params) -> Shape:
    return with_channels(x.shape[0], _places(x, p), channels(x, p), p.data_format)


for _kind in ("max", "average"):
    operator(
        f"{_kind}_pool",
        ranks=range(3, 6),
        params={
            "pool_size": sizes_space(1, 4, simplest=2),
            "strides": Optional(sizes_space(1, 4, simplest=1)),
            "padding": SAME_OR_VALID,
            "data_format": DATA_FORMAT_SELDOM,
        },
        rules={
            **SIZES_FOR_ALL_AXES,
            "pool fits": lambda x, p: not _has_axes(x, p) or p.padding == "same" or min(_places(x, p)) >= 1,
            "there is something to pool": Ours(lambda x, p: x.elements > 0),
        },
        shape=_pool_shape,
        doc=f"The {_kind} of each window; what pads an input does not count.",
    )
    operator(
        f"adaptive_{_kind}_pool",
        ranks=(4,),
        params={"output_size": sizes_space(1, 6, simplest=1), "data_format": DATA_FORMAT_SELDOM},
        rules={
            **SIZES_FOR_ALL_AXES,
            "there is something to pool": Ours(lambda x, p: x.elements > 0),
        },
        shape=lambda x, p: with_channels(x.shape[0], spread(x, p).output_size, channels(x, p), p.data_format),
        doc=f"The {_kind} of output_size windows that cover an image evenly.",
    )

# -- convolution -------------------------------------------------------------------------------------------------------

_CONV_PARAMS = {
    "strides": sizes_space(1, 4, simplest=1, plain=0.4),
    "padding": SAME_OR_VALID,
    "data_format": DATA_FORMAT_SELDOM,
    "dilation_rate": sizes_space(1, 3, simplest=1, plain=0.6),
}


def _conv_places(x: Types, p: Params) -> Shape:
    whole = spread(x, p)
    return window(spatial(x[0], p), whole.kernel_size, whole.strides, whole.dilation_rate, p.padding)


def _kernels_have_axes(x: Types, p: Params) -> bool:
    return _has_axes(x, p) and all(kind.rank == x[0].rank for kind in x[1:])


def _ok(rule: Any) -> Any:
    """A rule that may rely on it that kernels and sizes have the axes of the input."""
    return lambda x, p: not _kernels_have_axes(x, p) or rule(x, p)


CONV_RULES: Mapping[str, Rule] = {
    "kernels and sizes have the axes": _kernels_have_axes,
    "nothing is empty": Ours(lambda x, p: all(kind.elements > 0 for kind in x)),
    "strides or dilation, not both": Ours(
        _ok(lambda x, p: ones(spread(x, p).strides) or ones(spread(x, p).dilation_rate))
    ),
}
FITS: Mapping[str, Rule] = {
    "kernel fits": _ok(lambda x, p: p.padding == "same" or min(_conv_places(x, p)) >= 1),
}


def _draw_kernels(transposed: bool = False, deep: bool = False, pointwise: bool = False) -> Any:
    """Draws an image of 1 to 3 axes (2 where it is deep) and its kernel; channels are those of the last axis, mostly.

    transposed: the input's channels are the kernel's last axis. deep: the kernel has a few numbers for each channel.
    pointwise: a second kernel mixes them.
    """

    def draw_inputs(draw: Draw) -> Types:
        dtype, rank = draw_dtype(draw, FLOATS), draw.integer(3, 4 if deep else 5)
        image = draw_shape(draw, rank, high=7 if rank < 5 else 5)
        depth = image[-1] if draw.chance(0.75) else image[1]
        size = tuple(draw.integer(1, 3) for _ in range(rank - 2))
        filters = draw.integer(1, 4)
        kernel = (*size, filters, depth) if transposed else (*size, depth, filters)
        kinds = [TensorType(dtype, image), TensorType(dtype, kernel)]
        if pointwise:
            kinds.append(TensorType(dtype, (*(1,) * (rank - 2), depth * filters, draw.integer(1, 4))))
        return tuple(kinds)

    return draw_inputs


operator(
    "conv",
    arity=(2, 2),
    ranks=range(3, 6),
    params=_CONV_PARAMS,
    rules={
        **CONV_RULES,
        "kernel has the channels": _ok(lambda x, p: x[1].shape[-2] == channels(x[0], p)),
        **FITS,
    },
    shape=lambda x, p: with_channels(x[0].shape[0], _conv_places(x, p), x[1].shape[-1], p.data_format),
    inputs=_draw_kernels(),
    doc="The correlation of an image with a kernel over its spatial axes.",
)
operator(
    "depthwise_conv",
    arity=(2, 2),
    ranks=(3, 4),
    params=_CONV_PARAMS,
    rules={
        **CONV_RULES,
        "kernel has the channels": _ok(lambda x, p: x[1].shape[-2] == channels(x[0], p)),
        **FITS,
    },
    shape=lambda x, p: with_channels(x[0].shape[0], _conv_places(x, p), x[1].shape[-1] * x[1].shape[-2], p.data_format),
    inputs=_draw_kernels(deep=True),
    doc="The correlation of each channel by itself with its kernels; results stand channel by channel.",
)
operator(
    "separable_conv",
    arity=(3, 3),
    ranks=(3, 4),
    params=_CONV_PARAMS,
    rules={
        **CONV_RULES,
        "kernel has the channels": _ok(lambda x, p: x[1].shape[-2] == channels(x[0], p)),
        "the second kernel mixes what the first makes": _ok(
            lambda x, p: ones(x[2].shape[:-2]) and x[2].shape[-2] == x[1].shape[-1] * x[1].shape[-2]
        ),
        **FITS,
    },
    shape=lambda x, p: with_channels(x[0].shape[0], _conv_places(x, p), x[2].shape[-1], p.data_format),
    inputs=_draw_kernels(deep=True, pointwise=True),
    doc="A depthwise convolution, then one with a kernel of size 1 that mixes the channels.",
)


def _below_strides(x: Types, p: Params) -> bool:
    if p.output_padding is None:
        return True
    whole = spread(x, p)
    return all(padding < stride for padding, stride in zip(whole.output_padding, whole.strides, strict=True))


def _transposed_shape(x: Types, p: Params) -> Shape:
    places = transposed_places(spatial(x[0], p), spread(x, p))
    return with_channels(x[0].shape[0], places, x[1].shape[-2], p.data_format)


operator(
    "conv_transpose",
    arity=(2, 2),
    ranks=range(3, 6),
    params={**_CONV_PARAMS, "output_padding": Optional(sizes_space(0, 3, simplest=0))},
    rules={
        **CONV_RULES,
        "kernel has the channels": _ok(lambda x, p: x[1].shape[-1] == channels(x[0], p)),
        "output padding below strides": _ok(_below_strides),
    },
    shape=_transposed_shape,
    inputs=_draw_kernels(transposed=True),
    doc="The gradient of a convolution: each place of an image adds its multiple of the kernel.",
)
