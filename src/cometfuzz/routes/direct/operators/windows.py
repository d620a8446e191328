"""Pooling and convolution as operators: kernels are tensors, and a number may stand for all axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cometfuzz.routes.direct.convolution import channels_first, convolved, in_format, spatial, transposed
from cometfuzz.routes.direct.pooling import adaptively, pooled
from cometfuzz.routes.direct.writing import Call, writes

_PER_AXIS = ("pool_size", "strides", "dilation_rate", "output_size")


def spread(c: Call) -> Call:
    """The call with a number for each axis, as layers have them."""
    known: dict[str, Any] = {
        name: (c.params[name],) * (c.rank - 2) for name in _PER_AXIS if isinstance(c.params.get(name), int)
    }
    return replace(c, params=c.params.replace(**known))


@writes("ops.max_pool", "ops.average_pool")
def pool(c: Call) -> str:
    c = spread(c)
    kind = "MaxPool" if c.layer == "ops.max_pool" else "AveragePool"
    return pooled(c, kind, c.params.pool_size, c.params.strides or c.params.pool_size, c.params.padding)


@writes("ops.adaptive_max_pool", "ops.adaptive_average_pool")
def adaptive_pool(c: Call) -> str:
    c = spread(c)
    kind = "MaxPool" if c.layer == "ops.adaptive_max_pool" else "AveragePool"
    return adaptively(c, kind, c.params.output_size)


def _kernel(c: Call, x: str) -> str:
    """(*window, in, out) as (out, in, *window)."""
    return c.w.transpose(x, [c.rank - 1, c.rank - 2, *range(c.rank - 2)])


def _deep_kernel(c: Call) -> tuple[str, list[int], int]:
    *window, channels, many = c.types[1].shape
    moved = c.w.transpose(c.x[1], [c.rank - 2, c.rank - 1, *range(c.rank - 2)])
    return c.w.reshape(moved, [channels * many, 1, *window]), window, channels


@writes("ops.conv")
def conv(c: Call) -> str:
    c = spread(c)
    x = channels_first(c.w, c.x[0], c.rank, c.params.data_format)
    *window, depth, _ = c.types[1].shape
    channels = c.shape[1] if c.params.data_format == "channels_first" else c.shape[-1]
    y = convolved(c, x, _kernel(c, c.x[1]), None, window, channels // depth)
    return in_format(c.w, y, c.rank, c.params.data_format)


@writes("ops.depthwise_conv", "ops.separable_conv")
def depthwise_conv(c: Call) -> str:
    c = spread(c)
    x = channels_first(c.w, c.x[0], c.rank, c.params.data_format)
    y = convolved(c, x, *_with_bias(_deep_kernel(c)))
    if c.layer == "ops.separable_conv":
        y = c.w.op("Conv", y, _kernel(c, c.x[2]))
    return in_format(c.w, y, c.rank, c.params.data_format)


def _with_bias(kernel: tuple[str, list[int], int]) -> tuple[str, None, list[int], int]:
    name, window, groups = kernel
    return name, None, window, groups


@writes("ops.conv_transpose")
def conv_transpose(c: Call) -> str:
    c = spread(c)
    p = c.params
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    wanted = spatial(c.outputs[0].shape, p.data_format)
    y = transposed(c, x, _kernel(c, c.x[1]), None, c.types[1].shape[:-2], wanted)
    return in_format(c.w, y, c.rank, p.data_format)
