"""Convolutions: plain, grouped, depthwise, separable, transposed and locally connected (Keras 2 only)."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from cometfuzz.catalogue.shapes import Shape, channels, ones, spatial, window, with_channels
from cometfuzz.catalogue.spaces import (
    BOOLEAN_TRUE,
    RARE,
    SAME_OR_VALID,
    Choice,
    Computed,
    Ints,
    Optional,
    PerAxis,
    Seldom,
    Sizes,
    Space,
    activations,
    build_params,
)
from cometfuzz.catalogue.spec import KERAS2, KERAS3, Ours, Rule, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType

_LARGEST_KERNEL = {1: 7, 2: 5, 3: 4}


class _Fitting(PerAxis):
    """Integers for each axis, drawn so that they mostly fit the input; what is legal is the business of rules.

    `highest` gives the largest useful value along each axis; `plain` is how often the simplest value is drawn and
    `alike` how often all axes get the same one.
    """

    def __init__(
        self,
        axes: int,
        each: Ints,
        highest: Callable[[TensorType, Params], Shape],
        plain: float = 0.0,
        alike: float = 0.5,
    ) -> None:
        super().__init__(axes, each)
        self._range, self._highest, self._plain, self._alike = each, highest, plain, alike

    def draw(self, draw: Draw, x: TensorType, p: Params) -> tuple[int, ...]:
        if draw.chance(self._plain):
            return tuple(self.simplest)
        low = self._range.low
        highs = [max(low, min(self._range.high, high)) for high in self._highest(x, p)]
        if draw.chance(self._alike):
            return (draw.integer(low, min(highs)),) * self.axes
        return tuple(draw.integer(low, high) for high in highs)


CAUSAL_TOO = Choice("valid", "same", "causal")
SELDOM_CAUSAL = Seldom(*CAUSAL_TOO.values, seldom="causal", chance=RARE)
"""The padding of SeparableConv1D: Keras 2 knows "causal", Keras 3 refuses it."""
DATA_FORMAT = Seldom("channels_last", "channels_first", seldom="channels_first", chance=0.25)
"""On the CPU, TensorFlow runs channels_first in some dtypes only."""


def _largest_kernel(x: TensorType, p: Params) -> Shape:
    return tuple(n if p["padding"] == "valid" else n + 2 for n in spatial(x, p))


def _largest_dilation(x: TensorType, p: Params) -> Shape:
    return _largest_beside_strides(x, p) if ones(p["strides"]) else (1,) * len(p["strides"])


def _largest_beside_strides(x: TensorType, p: Params) -> Shape:
    if p["padding"] != "valid":
        return tuple(n + 1 for n in spatial(x, p))
    return tuple((n - 1) // max(1, k - 1) for n, k in zip(spatial(x, p), p["kernel_size"], strict=True))


def _window_params(axes: int, padding: Choice, alike: float = 0.5) -> dict[str, Space]:
    """Where the kernel goes; every convolution has these."""
    return {
        "padding": padding,
        "data_format": DATA_FORMAT,
        "kernel_size": _Fitting(axes, Ints(1, _LARGEST_KERNEL[axes]), _largest_kernel),
        "strides": _Fitting(axes, Ints(1, 5), spatial, plain=0.4, alike=alike),
    }


def _dilation(axes: int, plain: float = 0.3, beside_strides: bool = False) -> dict[str, Space]:
    largest = _largest_beside_strides if beside_strides else _largest_dilation
    return {"dilation_rate": _Fitting(axes, Ints(1, 5), largest, plain=plain)}


def _output_params(*weights: str) -> dict[str, Space]:
    """What happens to the sums; every convolution has these."""
    return {"activation": activations(), "use_bias": BOOLEAN_TRUE, **build_params(*weights)}


def _dilated(p: Any) -> Shape:
    dilation: Shape = p.get("dilation_rate", (1,) * len(p.kernel_size))
    return dilation


def _places(x: TensorType, p: Any) -> Shape:
    return window(spatial(x, p), p.kernel_size, p.strides, _dilated(p), p.padding)


def _shape(x: TensorType, p: Any) -> Shape:
    filters = p.filters if "filters" in p else channels(x, p) * p.depth_multiplier
    return with_channels(x.shape[0], _places(x, p), filters, p.data_format)


def _bias(p: Any, size: int) -> dict[str, Shape]:
    return {"bias": (size,)} if p.use_bias else {}


HAS_CHANNELS: dict[str, Rule] = {"input has channels": Ours(lambda x, p: channels(x, p) >= 1)}
STRIDES_OR_DILATION: dict[str, Rule] = {
    "strides or dilation, not both": Ours(lambda x, p: ones(p.strides) or ones(p.dilation_rate))
}
KERNEL_FITS: dict[str, Rule] = {"kernel fits": lambda x, p: p.padding == "same" or min(_places(x, p)) >= 1}
WINDOW_RULES = {**HAS_CHANNELS, **STRIDES_OR_DILATION, **KERNEL_FITS}
DEEP_RULES = {**HAS_CHANNELS, **KERNEL_FITS}
"""Those of depthwise and separable convolutions: Keras 2.8 and 3.15 take strides and dilation at once, Keras 3.3 does
not, and all refuse it for the other convolutions."""
STRIDES_WITH_DILATION = (("strides", "dilation_rate"),)


def _draw_groups(draw: Draw, x: TensorType, p: Params) -> int:
    common = math.gcd(channels(x, p), p.filters)
    return draw.choice([groups for groups in range(1, common + 1) if common % groups == 0] or [1])


def _conv(axes: int) -> None:
    layer(
        f"Conv{axes}D",
        ranks=[axes + 2],
        params={
            "filters": Sizes(1, 9),
            **_window_params(axes, CAUSAL_TOO if axes == 1 else SAME_OR_VALID),
            **_dilation(axes),
            "groups": Computed(
                "a positive integer that divides channels and filters",
                simplest=1,
                check=lambda value: type(value) is int and value >= 1,
                draw=_draw_groups,
                wrong=(0, -1),
            ),
            **_output_params("kernel", "bias"),
        },
        rules={
            **WINDOW_RULES,
            "groups divide channels": lambda x, p: channels(x, p) % p.groups == 0,
            "groups divide filters": lambda x, p: p.filters % p.groups == 0,
        },
        shape=_shape,
        weights=lambda x, p: {
            "kernel": (*p.kernel_size, channels(x, p) // p.groups, p.filters),
            **_bias(p, p.filters),
        },
        doc="activation(x * kernel + bias), a correlation over the spatial axes, in groups of channels.",
    )


def _depthwise(axes: int) -> None:
    layer(
        f"DepthwiseConv{axes}D",
        ranks=[axes + 2],
        params={
            "depth_multiplier": Ints(1, 5),
            **_window_params(axes, SAME_OR_VALID, alike=0.8),
            **_dilation(axes, beside_strides=True),
            **_output_params("depthwise", "bias"),
        },
        rules=DEEP_RULES,
        together=STRIDES_WITH_DILATION,
        shape=_shape,
        weights=lambda x, p: {
            "depthwise_kernel": (*p.kernel_size, channels(x, p), p.depth_multiplier),
            **_bias(p, channels(x, p) * p.depth_multiplier),
        },
        doc="A convolution of each channel by itself with depth_multiplier kernels; outputs stand channel by channel.",
    )


def _separable(axes: int) -> None:
    layer(
        f"SeparableConv{axes}D",
        ranks=[axes + 2],
        params={
            "filters": Sizes(1, 9),
            "depth_multiplier": Ints(1, 5),
            **_window_params(axes, SELDOM_CAUSAL if axes == 1 else SAME_OR_VALID, alike=0.8),
            **_dilation(axes, beside_strides=True),
            **_output_params("depthwise", "pointwise", "bias"),
            # the paper space counts this one argument, for this one layer
            **({"trainable": Choice(True, False, effect="train")} if axes == 1 else {}),
        },
        rules=DEEP_RULES,
        together=STRIDES_WITH_DILATION,
        shape=_shape,
        weights=lambda x, p: {
            "depthwise_kernel": (*p.kernel_size, channels(x, p), p.depth_multiplier),
            "pointwise_kernel": (*(1,) * axes, channels(x, p) * p.depth_multiplier, p.filters),
            **_bias(p, p.filters),
        },
        doc="A depthwise convolution, then one with a kernel of size 1 that mixes the channels.",
    )


def _below_strides(x: TensorType, p: Params) -> Shape:
    return tuple(stride - 1 for stride in p["strides"])


def transposed_places(sizes: Shape, p: Any) -> Shape:
    """The sizes that a transposed convolution makes of `sizes`."""
    result = []
    for axis, (n, k, s, d) in enumerate(zip(sizes, p.kernel_size, p.strides, p.dilation_rate, strict=True)):
        extent = (k - 1) * d + 1
        if p.output_padding is None:
            result.append(n * s if p.padding == "same" else (n - 1) * s + max(extent, s))
        else:
            result.append((n - 1) * s + (extent % 2 if p.padding == "same" else extent) + p.output_padding[axis])
    return tuple(result)


def _transposed(axes: int) -> None:
    layer(
        f"Conv{axes}DTranspose",
        ranks=[axes + 2],
        params={
            "filters": Sizes(1, 9),
            **_window_params(axes, SAME_OR_VALID),
            **_dilation(axes, plain=0.6),
            "output_padding": Optional(_Fitting(axes, Ints(0, 4), _below_strides)),
            **_output_params("kernel", "bias"),
        },
        rules={
            **HAS_CHANNELS,
            **STRIDES_OR_DILATION,
            "input has places": Ours(lambda x, p: min(spatial(x, p)) >= 1),
            "output padding below strides": lambda x, p: (
                p.output_padding is None or all(o < s for o, s in zip(p.output_padding, p.strides, strict=True))
            ),
        },
        shape=lambda x, p: with_channels(x.shape[0], transposed_places(spatial(x, p), p), p.filters, p.data_format),
        weights=lambda x, p: {"kernel": (*p.kernel_size, p.filters, channels(x, p)), **_bias(p, p.filters)},
        libraries=(KERAS3,) if axes == 1 else (KERAS3, KERAS2),
        doc="The gradient of a convolution: each input place adds its multiple of the kernel to the output.",
    )


def connections(size: int, kernel: int, stride: int, padding: str) -> list[range]:
    """The inputs that a locally connected layer reads for each output place along one axis.

    Unlike in a convolution, "same" centres each window on its place: kernel // 2 inputs before, whatever the size.
    """
    if padding == "valid":
        return [range(at * stride, at * stride + kernel) for at in range((size - kernel) // stride + 1)]
    starts = [at * stride - kernel // 2 for at in range(-(-size // stride))]
    return [range(max(0, start), min(size, start + kernel)) for start in starts]


def _local_kernel(x: TensorType, p: Any) -> Shape:
    """The three implementations keep the same weights by place, as a masked dense tensor, and as a list."""
    sizes, places, depth = spatial(x, p), _places(x, p), channels(x, p)
    if p.implementation == 1:
        return (math.prod(places), math.prod(p.kernel_size) * depth, p.filters)
    if p.implementation == 2:
        return (
            *with_channels(0, sizes, depth, p.data_format)[1:],
            *with_channels(0, places, p.filters, p.data_format)[1:],
        )
    counts = (
        sum(map(len, connections(n, k, s, p.padding))) for n, k, s in zip(sizes, p.kernel_size, p.strides, strict=True)
    )
    return (math.prod(counts) * depth * p.filters,)


def _local_weights(x: TensorType, p: Any) -> Mapping[str, Shape]:
    bias = {"bias": (*_places(x, p), p.filters)} if p.use_bias else {}
    return {"kernel": _local_kernel(x, p), **bias}


def _local(axes: int) -> None:
    layer(
        f"LocallyConnected{axes}D",
        ranks=[axes + 2],
        params={
            "filters": Sizes(1, 9),
            **_window_params(axes, SAME_OR_VALID),
            "implementation": Choice(1, 2, 3),
            **_output_params("kernel", "bias"),
        },
        rules={
            **HAS_CHANNELS,
            "kernel fits": lambda x, p: min(_places(x, p)) >= 1,
            "implementation 1 pads nothing": lambda x, p: p.implementation != 1 or p.padding == "valid",
        },
        shape=_shape,
        weights=_local_weights,
        libraries=(KERAS2,),
        doc="A convolution with a kernel and a bias of its own at each place.",
    )


for _axes in (1, 2, 3):
    _conv(_axes)
    _transposed(_axes)
for _axes in (1, 2):
    _depthwise(_axes)
    _separable(_axes)
    _local(_axes)
