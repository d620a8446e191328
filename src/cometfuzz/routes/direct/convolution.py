"""Convolutions: plain, grouped, depthwise, separable and transposed. ONNX has channels first, and kernels alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from cometfuzz.routes.direct.activation import ALONG_THE_LAST, activated
from cometfuzz.routes.direct.writing import Call, Writing, writes


def to_first(rank: int) -> list[int]:
    """The order of axes that brings channels from the end to the front."""
    return [0, rank - 1, *range(1, rank - 1)]


def to_last(rank: int) -> list[int]:
    return [0, *range(2, rank), 1]


def channels_first(w: Writing, x: str, rank: int, data_format: str) -> str:
    return x if data_format == "channels_first" else w.transpose(x, to_first(rank))


def in_format(w: Writing, x: str, rank: int, data_format: str) -> str:
    return x if data_format == "channels_first" else w.transpose(x, to_last(rank))


def spatial(shape: Sequence[int], data_format: str) -> Sequence[int]:
    return shape[2:] if data_format == "channels_first" else shape[1:-1]


def padding_of(size: int, kernel: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    """How many zeros stand before and behind an axis."""
    extent = (kernel - 1) * dilation + 1
    if padding == "valid":
        return 0, 0
    if padding == "causal":
        return extent - 1, 0
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    return total // 2, total - total // 2


def explicit_pads(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int], padding: str
) -> list[int]:
    """All that stand before, then all that stand behind, as ONNX has it."""
    pairs = [padding_of(*axis, padding) for axis in zip(sizes, kernel, strides, dilation)]
    return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]


def kernel_first(kernel: Any) -> Any:
    """A kernel (*window, in, out) as (out, in, *window)."""
    return np.moveaxis(kernel, (-1, -2), (0, 1))


def deep_kernel(kernel: Any) -> Any:
    """A depthwise kernel (*window, channels, many) as that of as many groups as there are channels."""
    moved = np.moveaxis(kernel, (-2, -1), (0, 1))
    return moved.reshape(moved.shape[0] * moved.shape[1], 1, *moved.shape[2:])


def convolved(c: Call, x: str, kernel: str, bias: Optional[str], window: Sequence[int], groups: int) -> str:
    """A convolution of channels-first `x` by the parameters of a call."""
    p = c.params
    return c.w.op(
        "Conv",
        x,
        kernel,
        *([bias] if bias else []),
        kernel_shape=list(window),
        strides=list(p.strides),
        dilations=list(p.dilation_rate),
        pads=explicit_pads(spatial(c.shape, p.data_format), window, p.strides, p.dilation_rate, p.padding),
        group=groups,
    )


def finished(c: Call, y: str) -> str:
    """Activation and data format; an activation of each number comes first, where readers look for it."""
    w, p = c.w, c.params
    if p.activation in ALONG_THE_LAST:
        moved = in_format(w, y, c.rank, p.data_format)
        return activated(w, moved, p.activation, c.outputs[0].shape[-1])
    return in_format(w, activated(w, y, p.activation, 0), c.rank, p.data_format)


def bias_of(c: Call) -> Optional[str]:
    return c.weight(c.weights[-1]) if c.params.use_bias else None


@writes("Conv1D", "Conv2D", "Conv3D")
def conv(c: Call) -> str:
    p = c.params
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    kernel = c.weight(kernel_first(c.weights[0]))
    return finished(c, convolved(c, x, kernel, bias_of(c), p.kernel_size, p.groups))


@writes("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise_conv(c: Call) -> str:
    p, kernel = c.params, c.weights[0]
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    return finished(c, convolved(c, x, c.weight(deep_kernel(kernel)), bias_of(c), p.kernel_size, kernel.shape[-2]))


@writes("SeparableConv1D", "SeparableConv2D")
def separable_conv(c: Call) -> str:
    p, (deep, point) = c.params, c.weights[:2]
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    y = convolved(c, x, c.weight(deep_kernel(deep)), None, p.kernel_size, deep.shape[-2])
    bias = bias_of(c)
    return finished(c, c.w.op("Conv", y, c.weight(kernel_first(point)), *([bias] if bias else [])))


@writes("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def transposed_conv(c: Call) -> str:
    p = c.params
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    kernel = c.weight(kernel_first(c.weights[0]))
    wanted = spatial(c.outputs[0].shape, p.data_format)
    return finished(c, transposed(c, x, kernel, bias_of(c), p.kernel_size, wanted))


def transposed(c: Call, x: str, kernel: str, bias: Optional[str], window: Sequence[int], wanted: Sequence[int]) -> str:
    """A transposed convolution of the wanted sizes: what is too much is cut, what is missing is padded."""
    p = c.params
    have = [
        (n - 1) * s + (k - 1) * d + 1
        for n, k, s, d in zip(spatial(c.shape, p.data_format), window, p.strides, p.dilation_rate)
    ]
    cut = [max(a - b, 0) for a, b in zip(have, wanted)]
    front = [n // 2 if p.padding == "same" else 0 for n in cut]
    more = [max(b - a, 0) for a, b in zip(have, wanted)]
    padded: dict[str, Any] = {"output_padding": more} if any(more) else {}
    return c.w.op(
        "ConvTranspose",
        x,
        kernel,
        *([bias] if bias else []),
        kernel_shape=list(window),
        strides=list(p.strides),
        dilations=list(p.dilation_rate),
        pads=front + [n - m for n, m in zip(cut, front)],
        **padded,
    )
