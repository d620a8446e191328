"""Shape arithmetic that several families share."""

from typing import Any

from cometfuzz.ir.types import TensorType

Shape = tuple[int, ...]


def channels(x: TensorType, p: Any) -> int:
    """The size of the channel axis."""
    return x.shape[-1] if p.data_format == "channels_last" else x.shape[1]


def spatial(x: TensorType, p: Any) -> Shape:
    """The sizes of the spatial axes."""
    return x.shape[1:-1] if p.data_format == "channels_last" else x.shape[2:]


def with_channels(batch: int, sizes: Shape, channels: int, data_format: str) -> Shape:
    """A shape put together again from its parts."""
    return (batch, *sizes, channels) if data_format == "channels_last" else (batch, channels, *sizes)


def window(sizes: Shape, size: Shape, strides: Shape, dilation: Shape, padding: str) -> Shape:
    """How many places a sliding window has along each axis; below 1 where it does not fit."""
    if padding in ("same", "causal"):
        return tuple(-(-n // s) for n, s in zip(sizes, strides, strict=True))
    return tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(sizes, size, strides, dilation, strict=True))


def ones(values: Shape) -> bool:
    return all(value == 1 for value in values)
