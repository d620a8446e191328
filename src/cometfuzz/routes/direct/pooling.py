"""Pooling layers."""

from __future__ import annotations

from collections.abc import Sequence

from cometfuzz.routes.direct.convolution import channels_first, explicit_pads, in_format, spatial
from cometfuzz.routes.direct.writing import Call, Unsaid, writes

KINDS = ("1D", "2D", "3D")


def pooled(c: Call, kind: str, size: Sequence[int], strides: Sequence[int], padding: str) -> str:
    p = c.params
    if 0 in c.shape:
        raise Unsaid("a window over nothing")
    x = channels_first(c.w, c.x[0], c.rank, p.data_format)
    y = c.w.op(
        kind,
        x,
        kernel_shape=list(size),
        strides=list(strides),
        pads=explicit_pads(spatial(c.shape, p.data_format), size, strides, [1] * len(size), padding),
    )
    return in_format(c.w, y, c.rank, p.data_format)


@writes(*(f"MaxPooling{kind}" for kind in KINDS))
def max_pooling(c: Call) -> str:
    return pooled(c, "MaxPool", c.params.pool_size, c.params.strides or c.params.pool_size, c.params.padding)


@writes(*(f"AveragePooling{kind}" for kind in KINDS))
def average_pooling(c: Call) -> str:
    return pooled(c, "AveragePool", c.params.pool_size, c.params.strides or c.params.pool_size, c.params.padding)


@writes(*(f"GlobalMaxPooling{kind}" for kind in KINDS))
def global_max_pooling(c: Call) -> str:
    return _over_everything(c, "GlobalMaxPool", "ReduceMax")


@writes(*(f"GlobalAveragePooling{kind}" for kind in KINDS))
def global_average_pooling(c: Call) -> str:
    c.expect_no_mask()
    return _over_everything(c, "GlobalAveragePool", "ReduceMean")


def _over_everything(c: Call, pool: str, reduction: str) -> str:
    """With channels first by the operator for it; with channels last as exporters do it."""
    w, p = c.w, c.params
    if 0 in c.shape:
        raise Unsaid("a window over nothing")
    if p.data_format == "channels_last":
        return w.reduce(reduction, c.x[0], list(range(1, c.rank - 1)), p.keepdims)
    y = w.op(pool, c.x[0])
    return y if p.keepdims else w.squeeze(y, list(range(2, c.rank)))


@writes(*(f"AdaptiveMaxPooling{kind}" for kind in KINDS))
def adaptive_max_pooling(c: Call) -> str:
    return adaptively(c, "MaxPool", c.params.output_size)


@writes(*(f"AdaptiveAveragePooling{kind}" for kind in KINDS))
def adaptive_average_pooling(c: Call) -> str:
    return adaptively(c, "AveragePool", c.params.output_size)


def adaptively(c: Call, kind: str, outputs: Sequence[int]) -> str:
    sizes = spatial(c.shape, c.params.data_format)
    if any(n % m for n, m in zip(sizes, outputs)):
        raise Unsaid("ONNX has no windows of different sizes")
    window = [n // m for n, m in zip(sizes, outputs)]
    return pooled(c, kind, window, window, "valid")
