"""Convolutions: plain, grouped, depthwise, separable, transposed and locally connected."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cometfuzz.catalogue.convolution import connections, transposed_places
from cometfuzz.reference.activation import activate
from cometfuzz.reference.call import Array, Call, Mask, meaning

_AXES = "hwduv"
"""Letters of the output's spatial axes in einsum equations; the kernel's are the same letters in upper case."""


def channels_last(x: Array, data_format: str) -> Array:
    """`x` with its channels moved to the end."""
    return x if data_format == "channels_last" else np.moveaxis(x, 1, -1)


def in_format(y: Array, data_format: str) -> Array:
    """A channels-last result in the layer's own data format."""
    return y if data_format == "channels_last" else np.moveaxis(y, -1, 1)


def padding_of(size: int, kernel: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    """(before, after): the zeros that `valid`, `same` or `causal` padding puts around one axis.

    "same" makes ceil(size / stride) windows, the odd zero behind; "causal" lets output t see nothing after input t.
    """
    extent = (kernel - 1) * dilation + 1
    if padding == "valid":
        return 0, 0
    if padding == "causal":
        return extent - 1, 0
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    return total // 2, total - total // 2


def windows(x: Array, kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int], padding: str) -> Array:
    """Every window of a channels-last array (batch, *spatial, channels), as (batch, *places, channels, *kernel).

    Zero-padded as `padding` says. Where no window fits along an axis, that axis of places has size 0.
    """
    spatial = x.shape[1:-1]
    pairs = [padding_of(*axis, padding) for axis in zip(spatial, kernel, strides, dilation, strict=True)]
    padded = np.pad(x, [(0, 0), *pairs, (0, 0)])
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(size < extent for size, extent in zip(padded.shape[1:-1], extents, strict=True)):
        places = [
            0 if size < extent else (size - extent) // stride + 1
            for size, extent, stride in zip(padded.shape[1:-1], extents, strides, strict=True)
        ]
        return np.zeros((x.shape[0], *places, x.shape[-1], *kernel))
    views = sliding_window_view(padded, extents, axis=tuple(range(1, x.ndim - 1)))
    every = [slice(None, None, stride) for stride in strides]
    within = [slice(None, None, step) for step in dilation]
    return views[(slice(None), *every, slice(None), *within)]


def convolve(
    call: Call,
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: str = "valid",
    data_format: str = "channels_last",
    groups: int = 1,
) -> Array:
    """The convolution (a correlation, as in all DL libraries) of `x` with `kernel` over any number of axes.

    x: (batch, *spatial, channels), or (batch, channels, *spatial) with data_format "channels_first"; the result has
    the same format. kernel: (*window, channels // groups, filters), as Keras keeps it. strides, dilation: one number
    for each spatial axis. padding: "valid", "same" or "causal". The result is rounded and its sums of absolute terms
    are noted by `call.contract`; no bias and no activation.
    """
    axes, depth = x.ndim - 2, kernel.shape[-2]
    places, window = _AXES[:axes], _AXES[:axes].upper()
    x, split = channels_last(x, data_format), np.split(kernel, groups, axis=-1)
    parts = [
        call.contract(
            f"n{places}c{window},{window}cf->n{places}f",
            windows(x[..., group * depth : (group + 1) * depth], part.shape[:axes], strides, dilation, padding),
            part,
        )
        for group, part in enumerate(split)
    ]
    return in_format(np.concatenate(parts, axis=-1), data_format)


def depthwise(call: Call, kernel: Array) -> Array:
    """Each channel convolved by itself; channels-last, whatever the layer's data format."""
    p = call.params
    axes = call.x.ndim - 2
    x = channels_last(call.x, p.data_format)
    seen = windows(x, kernel.shape[:axes], p.strides, p.dilation_rate, p.padding)
    places, window = _AXES[:axes], _AXES[:axes].upper()
    y = call.contract(f"n{places}c{window},{window}cm->n{places}cm", seen, kernel)
    return y.reshape(*y.shape[:-2], kernel.shape[-2] * kernel.shape[-1])


def finish(call: Call, y: Array) -> Array:
    """Bias, data format and activation of a channels-last result."""
    p = call.params
    if p.use_bias:
        y = y + call.weights["bias"]
    return activate(call, in_format(y, p.data_format), p.activation)


@meaning("Conv1D", "Conv2D", "Conv3D")
def conv(call: Call) -> Array:
    p = call.params
    x, kernel = channels_last(call.x, p.data_format), call.weights["kernel"]
    y = convolve(call, x, kernel, p.strides, p.dilation_rate, p.padding, groups=p.groups)
    if p.groups > 1:  # XLA makes one convolution of it, with a kernel that is 0 from group to group
        lost = np.isnan(y)
        call.step(in_format(np.where(lost.any(axis=-1, keepdims=True) & ~lost, np.nan, np.inf), p.data_format))
    return finish(call, y)


@meaning("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise_conv(call: Call) -> Array:
    return finish(call, depthwise(call, call.weights["depthwise_kernel"]))


@meaning("SeparableConv1D", "SeparableConv2D")
def separable_conv(call: Call) -> Array:
    deep = depthwise(call, call.weights["depthwise_kernel"])
    mixer = call.weights["pointwise_kernel"]
    return finish(call, call.contract("...c,cf->...f", deep, mixer.reshape(mixer.shape[-2:])))


@meaning("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def transposed_conv(call: Call) -> Array:
    return finish(call, transposed(call, call.weights["kernel"]))


def transposed(call: Call, kernel: Array) -> Array:
    """Every input place adds its multiple of the kernel: zeros between the inputs, then a flipped convolution.

    "same" cuts what is too much at both ends, less at the front; what an output padding asks beyond is
    zero. Channels-last, whatever the data format.
    """
    p = call.params
    x = channels_last(call.x, p.data_format)
    axes = x.ndim - 2
    extents = [(k - 1) * d + 1 for k, d in zip(p.kernel_size, p.dilation_rate, strict=True)]
    spread = [(n - 1) * s + 1 for n, s in zip(x.shape[1:-1], p.strides, strict=True)]
    spaced = np.zeros((x.shape[0], *(n + 2 * (e - 1) for n, e in zip(spread, extents, strict=True)), x.shape[-1]))
    places = [slice(e - 1, e - 1 + n, s) for e, n, s in zip(extents, spread, p.strides, strict=True)]
    spaced[(slice(None), *places)] = x
    flipped = np.swapaxes(np.flip(kernel, tuple(range(axes))), -1, -2)
    full = convolve(call, spaced, flipped, (1,) * axes, p.dilation_rate)
    wanted = transposed_places(x.shape[1:-1], p)
    for axis, (size, have) in enumerate(zip(wanted, full.shape[1:-1], strict=True), start=1):
        front = max(have - size, 0) // 2 if p.padding == "same" else 0
        full = np.moveaxis(np.moveaxis(full, axis, 0)[front : front + size], 0, axis)
        lacking = [(0, 0)] * full.ndim
        lacking[axis] = (0, size - full.shape[axis])
        full = np.pad(full, lacking)
    return full


def connected(call: Call) -> Mask:
    """Which inputs each output of a locally connected layer reads, over all axes of both, batch apart.

    The channel axes have size 1, since all channels are connected.
    """
    p = call.params
    first = p.data_format == "channels_first"
    sizes = call.x.shape[2:] if first else call.x.shape[1:-1]
    joined = np.ones((), dtype=np.bool_)
    for n, k, s in zip(sizes, p.kernel_size, p.strides, strict=True):
        reads = connections(n, k, s, p.padding)
        axis = np.array([[at in inputs for inputs in reads] for at in range(n)])
        joined = np.multiply.outer(joined, axis)
    axes = len(sizes)
    joined = joined.transpose(*range(0, 2 * axes, 2), *range(1, 2 * axes, 2))
    return np.expand_dims(joined, (0, axes + 1) if first else (axes, 2 * axes + 1))


@meaning("LocallyConnected1D", "LocallyConnected2D")
def locally_connected(call: Call) -> Array:
    """A matrix product of the flattened input, in which only connected places have a weight."""
    p, x, kernel = call.params, call.x, call.weights["kernel"]
    first, axes = p.data_format == "channels_first", x.ndim - 2
    out = call.outputs[0].shape
    if p.implementation == 1:
        seen = windows(channels_last(x, p.data_format), p.kernel_size, p.strides, (1,) * axes, "valid")
        # a place's weights stand in the order of the input's axes
        seen = seen if first else np.moveaxis(seen, axes + 1, -1)
        seen = seen.reshape(x.shape[0], kernel.shape[0], kernel.shape[1])
        y = call.contract("npk,pkf->npf", seen, kernel)
        y = in_format(y.reshape(x.shape[0], *(out[2:] if first else out[1:-1]), p.filters), p.data_format)
    else:
        joined = connected(call)
        if p.implementation == 2:
            dense = (kernel * joined).reshape(math.prod(x.shape[1:]), math.prod(out[1:]))
        else:
            whole = np.broadcast_to(joined, (*x.shape[1:], *out[1:]))
            whole = whole.reshape(math.prod(x.shape[1:]), math.prod(out[1:])).T
            listed = np.zeros(whole.shape)
            listed[whole] = kernel
            dense = listed.T
        y = call.contract("ni,io->no", x.reshape(x.shape[0], dense.shape[0]), dense).reshape(out)
        call.step(np.where(np.isnan(y), 0.0, np.inf))  # a sparse product may pass over NaN times 0
    if p.use_bias:
        # Keras 2 reads the bias of shape (*places, filters) as (filters, *places) without moving its elements
        y = y + call.weights["bias"].reshape(out[1:])
    return activate(call, y, p.activation)
