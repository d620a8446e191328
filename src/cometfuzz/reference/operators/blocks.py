"""Operators that move blocks of images, and groups of axes."""

import math

import numpy as np

from cometfuzz.catalogue.operators.blocks import groups, letter_sizes, windows
from cometfuzz.reference.call import Array, Call, meaning
from cometfuzz.reference.pooling import as_asked, channels_last


@meaning("ops.depth_to_space")
def depth_to_space(call: Call) -> Array:
    """A channel is row and column within the block, then the channel of the result; where channels are does not matter
    to that: `data_format` says where the input has them."""
    x, r = channels_last(call, call.x), call.params.block_size
    n, h, w, c = x.shape
    split = x.reshape(n, h, w, r, r, c // r**2)
    return as_asked(call, split.transpose(0, 1, 3, 2, 4, 5).reshape(n, h * r, w * r, c // r**2))


@meaning("ops.space_to_depth")
def space_to_depth(call: Call) -> Array:
    x, r = channels_last(call, call.x), call.params.block_size
    n, h, w, c = x.shape
    split = x.reshape(n, h // r, r, w // r, r, c)
    return as_asked(call, split.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // r, w // r, c * r**2))


def _places(call: Call, sizes: tuple[int, ...]) -> list[Array]:
    """For each axis, which place of padded images is at (window, place in the window)."""
    p = call.params
    return [
        np.arange(count)[:, None] * stride + np.arange(size) * dilation
        for count, stride, size, dilation in zip(windows(sizes, p), p.stride, p.kernel_size, p.dilation, strict=True)
    ]


@meaning("ops.unfold")
def unfold(call: Call) -> Array:
    sides = [(side, side) for side in call.params.padding]
    rows, columns = _places(call, call.x.shape[2:])
    x = np.pad(call.x, [(0, 0), (0, 0), *sides])
    cut = x[:, :, rows[:, :, None, None], columns[None, None]]  # rows of windows, within, columns of windows, within
    return cut.transpose(0, 1, 3, 5, 2, 4).reshape(call.outputs[0].shape)


@meaning("ops.fold")
def fold(call: Call) -> Array:
    p, (n, channels, *size) = call.params, call.outputs[0].shape
    rows, columns = _places(call, tuple(size))
    blocks = call.x.reshape(n, channels, *p.kernel_size, len(rows), len(columns)).transpose(0, 1, 4, 2, 5, 3)
    padded = [each + 2 * pad for each, pad in zip(size, p.padding, strict=True)]
    place = (rows[:, :, None, None] * padded[1] + columns[None, None]).ravel()
    one_hot = (place[:, None] == np.arange(math.prod(padded))).astype(np.float64)
    given = blocks.reshape(n, channels, -1)
    finite = np.isfinite(given)
    result = call.contract("ncp,pq->ncq", np.where(finite, given, 0.0), one_hot, strict=True)
    for at in np.argwhere(~finite):  # a NaN times zero would be everywhere
        result[at[0], at[1], place[at[2]]] += given[tuple(at)]
    whole = result.reshape(n, channels, *padded)
    top, left = p.padding
    return whole[:, :, top : top + size[0], left : left + size[1]]


@meaning("ops.rearrange")
def rearrange(call: Call) -> Array:
    before, after = ("".join(groups(side)) for side in call.params.pattern.split(" -> "))
    sizes = letter_sizes(call.types[0], call.params) or {}
    split = call.x.reshape([sizes[letter] for letter in before])
    return split.transpose([before.index(letter) for letter in after]).reshape(call.outputs[0].shape)
