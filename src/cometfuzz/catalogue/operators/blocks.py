"""Operators that move blocks: of images between places and channels, pieces of sequences, groups of axes; and products
of two tensors that lie side by side."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from cometfuzz.catalogue.operators import NUMBERS, Types, draw_dtype, draw_tensor, operator
from cometfuzz.catalogue.operators.arranging import ANYTHING, is_ints, moving
from cometfuzz.catalogue.shapes import channels, spatial, window, with_channels
from cometfuzz.catalogue.spaces import DATA_FORMAT, Choice, Computed, Ints, PerAxis
from cometfuzz.catalogue.spec import Ours, Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

# -- places and channels -----------------------------------------------------------------------------------------------


def _draw_divisible(place: int, channel: int) -> Any:
    """Draws images whose places, or channels, can mostly be divided by a factor; channels are last as often as first,
    which the block does not know yet."""

    def draw_images(draw: Draw) -> Types:
        kind = draw_tensor(draw, (4,), ANYTHING)
        batch, first, second, third = kind.shape
        if draw.chance(0.5):
            shape = (batch, first * place, second * place, third % 4 * channel)
        else:
            shape = (batch, first % 4 * channel, second * place, third * place)
        return (TensorType(kind.dtype, shape if draw.chance(0.9) else kind.shape, high=kind.high),)

    return draw_images


def _depth_to_space_shape(x: TensorType, p: Params) -> Shape:
    places = tuple(size * p.block_size for size in spatial(x, p))
    return with_channels(x.shape[0], places, channels(x, p) // p.block_size**2, p.data_format)


def _space_to_depth_shape(x: TensorType, p: Params) -> Shape:
    places = tuple(size // p.block_size for size in spatial(x, p))
    return with_channels(x.shape[0], places, channels(x, p) * p.block_size**2, p.data_format)


_BLOCK = {"block_size": Ints(2, 3), "data_format": DATA_FORMAT}
moving(
    "depth_to_space",
    None,
    ranks=(4,),
    params=_BLOCK,
    rules={"channels make blocks": lambda x, p: channels(x, p) % p.block_size**2 == 0},
    shape=_depth_to_space_shape,
    inputs=_draw_divisible(1, 4),
    doc="Channels as blocks of pixels: of each pixel, the first channels are those of its block's first corner.",
)
moving(
    "space_to_depth",
    None,
    ranks=(4,),
    params=_BLOCK,
    rules={"blocks fill the image": lambda x, p: all(size % p.block_size == 0 for size in spatial(x, p))},
    shape=_space_to_depth_shape,
    inputs=_draw_divisible(2, 1),
    doc="Blocks of pixels as channels, the reverse of depth_to_space.",
)

# -- windows -----------------------------------------------------------------------------------------------------------

_WINDOW = {
    "kernel_size": PerAxis(2, Ints(1, 3)),
    "dilation": PerAxis(2, Ints(1, 2)),
    "padding": PerAxis(2, Ints(0, 2)),
    "stride": PerAxis(2, Ints(1, 3)),
}


def windows(sizes: Sequence[int], p: Params) -> Shape:
    """How many windows there are along each axis of padded images."""
    padded = tuple(size + 2 * pad for size, pad in zip(sizes, p.padding, strict=True))
    return window(padded, p.kernel_size, p.stride, p.dilation, "valid")


moving(
    "unfold",
    None,
    ranks=(4,),
    dtypes=FLOATS,
    params=_WINDOW,
    rules={
        "the window fits": lambda x, p: min(windows(x.shape[2:], p)) >= 1,
        "there is something to unfold": Ours(lambda x, p: x.elements > 0),
    },
    shape=lambda x, p: (
        x.shape[0],
        x.shape[1] * math.prod(p.kernel_size),
        math.prod(windows(x.shape[2:], p)),
    ),
    output_ranks=(3,),
)


def _draw_columns(draw: Draw) -> Types:
    """Columns of windows of a size that is drawn here once more than for the call, which often meets it."""
    kernel, places = draw.choice((1, 2, 3, 4, 6)), draw.integer(1, 4) * draw.integer(1, 4)
    shape = (draw.integer(1, 3), draw.integer(1, 3) * kernel, places)
    return (TensorType(draw_dtype(draw, FLOATS), shape),)


def _draw_kernel(draw: Draw, x: TensorType, p: Params) -> tuple[int, int]:
    fits = [(h, w) for h in (1, 2, 3) for w in (1, 2, 3) if x.shape[1] % (h * w) == 0]
    return draw.choice(fits)


def _draw_output_size(draw: Draw, x: TensorType, p: Params) -> tuple[int, int]:
    """An image with as many windows as there are columns, and now and then a rest that none reaches."""
    factors = [n for n in range(1, x.shape[2] + 1) if x.shape[2] % n == 0] or [1]
    rows = draw.choice(factors)
    sizes = []
    for count, k, d, pad, s in zip(
        (rows, x.shape[2] // rows), p.kernel_size, p.dilation, p.padding, p.stride, strict=True
    ):
        rest = draw.integer(0, s - 1) if draw.chance(0.5) else 0
        sizes.append(max(1, (count - 1) * s + d * (k - 1) + 1 - 2 * pad + rest))
    return sizes[0], sizes[1]


moving(
    "fold",
    None,
    ranks=(3,),
    dtypes=FLOATS,
    params={
        **_WINDOW,
        "kernel_size": Computed(
            "height and width of a window",
            simplest=(1, 1),
            check=lambda value: is_ints(value, 1, 64, (2,)),
            draw=_draw_kernel,
        ),
        "output_size": Computed(
            "height and width of the images",
            simplest=(1, 1),
            check=lambda value: is_ints(value, 1, 4096, (2,)),
            draw=_draw_output_size,
        ),
    },
    rules={
        "channels hold windows": lambda x, p: x.shape[1] % math.prod(p.kernel_size) == 0,
        "the window fits": lambda x, p: min(windows(p.output_size, p)) >= 1,
        "a column for each window": lambda x, p: (
            min(windows(p.output_size, p)) < 1 or math.prod(windows(p.output_size, p)) == x.shape[2]
        ),
        "there is something to fold": Ours(lambda x, p: x.elements > 0),
    },
    shape=lambda x, p: (x.shape[0], x.shape[1] // math.prod(p.kernel_size), *p.output_size),
    inputs=_draw_columns,
    output_ranks=(4,),
)


def sequences(x: TensorType, p: Params) -> int:
    """How many pieces a sequence has."""
    return int(1 + (x.shape[-1] - p.sequence_length) // p.sequence_stride)


moving(
    "extract_sequences",
    lambda x, sequence_length, sequence_stride: np.lib.stride_tricks.sliding_window_view(x, sequence_length, axis=-1)[
        ..., ::sequence_stride, :
    ],
    dtypes=NUMBERS,
    params={"sequence_length": Ints(1, 5, 1), "sequence_stride": Ints(1, 4, 1)},
    rules={
        "a sequence fits": Ours(lambda x, p: x.shape[-1] >= p.sequence_length),
    },
    shape=lambda x, p: (*x.shape[:-1], sequences(x, p), p.sequence_length),
    output_ranks=range(2, 7),
)

# -- groups of axes ----------------------------------------------------------------------------------------------------

_LETTERS = "abcdefghijklmnop"
_SIDE = re.compile(r"(\w|\(\w( \w)*\))( (\w|\(\w( \w)*\)))*")


def groups(side: str) -> list[str]:
    """The groups of letters of one side of a pattern: "a (b c)" has a and bc."""
    return [group.strip("()").replace(" ", "") for group in re.findall(r"\w|\(.*?\)", side)]


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return False
    sides = value.split(" -> ")
    if len(sides) != 2 or not all(_SIDE.fullmatch(side) for side in sides):
        return False
    letters = ["".join(groups(side)) for side in sides]
    return sorted(letters[0]) == sorted(letters[1]) and len(set(letters[0])) == len(letters[0])


def _written(parts: Sequence[str]) -> str:
    return " ".join(part if len(part) == 1 else f"({' '.join(part)})" for part in parts)


def _draw_pattern(draw: Draw, x: TensorType, p: Params) -> str:
    letters, given = iter(_LETTERS), []
    for size in x.shape:
        parts = draw.integer(2, 3) if size in (2, 4, 6, 8) and draw.chance(0.5) else 1
        given.append("".join(next(letters) for _ in range(parts)))
    left, made = draw.shuffled("".join(given)), list[str]()
    while left:
        count = 1 if draw.chance(0.6) else draw.integer(1, len(left))
        made.append("".join(left[:count]))
        left = left[count:]
    return f"{_written(given)} -> {_written(made)}"


def _draw_lengths(draw: Draw, x: TensorType, p: Params) -> tuple[tuple[str, int], ...]:
    """The lengths of the letters of each group, all or all but one of them."""
    lengths = []
    for group, size in zip(groups(p.pattern.split(" -> ")[0]), x.shape, strict=False):
        rest, left_out = size, draw.choice(group) if draw.chance(0.7) else ""
        for place, letter in enumerate(group):
            factors = [n for n in range(1, rest + 1) if rest % n == 0] or [1]
            length = rest if place == len(group) - 1 else draw.choice(factors)
            rest //= length or 1
            if len(group) > 1 and letter != left_out:
                lengths.append((letter, length))
    return tuple(lengths)


def _is_lengths(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and pair[0] in tuple(_LETTERS)
        and is_ints(pair[1:], 1, 2**20, (1,))
        for pair in value
    )


def letter_sizes(x: TensorType, p: Params) -> dict[str, int] | None:
    """The size of each letter of a pattern; None if it does not fit."""
    given, known = groups(p.pattern.split(" -> ")[0]), dict(p.axes_lengths)
    if len(given) != x.rank or len(known) != len(p.axes_lengths):
        return None
    if not set(known) <= set("".join(group for group in given if len(group) > 1)):
        return None
    sizes: dict[str, int] = {}
    for group, size in zip(given, x.shape, strict=True):
        open_letters = [letter for letter in group if letter not in known]
        product = math.prod(known[letter] for letter in group if letter in known)
        if len(open_letters) > 1 or product == 0 or size % product or (not open_letters and size != product):
            return None
        sizes |= {letter: known.get(letter, size // product) for letter in group}
    return sizes


def _rearranged(x: TensorType, p: Params) -> Shape:
    sizes = letter_sizes(x, p) or {}
    return tuple(math.prod(sizes[letter] for letter in group) for group in groups(p.pattern.split(" -> ")[1]))


moving(
    "rearrange",
    None,
    params={
        "pattern": Computed(
            "letters for axes and groups of letters, before and after",
            simplest="a -> a",
            check=_is_pattern,
            draw=_draw_pattern,
            numeric=False,
        ),
        "axes_lengths": Computed(
            "a letter and its length, for all letters of a group or all but one",
            simplest=(),
            check=_is_lengths,
            draw=_draw_lengths,
            numeric=False,
        ),
    },
    rules={"the pattern fits": Ours(lambda x, p: letter_sizes(x, p) is not None)},
    shape=_rearranged,
    output_ranks=range(1, 9),
)

# -- powers ----------------------------------------------------------------------------------------------------------

operator(
    "vander",
    formula=lambda x, N, increasing: np.vander(x, N, increasing),
    ranks=(1,),
    params={
        "N": Computed(
            "null or a number of columns",
            simplest=None,
            check=lambda value: value is None or is_ints((value,), 0, 9, (1,)),
            draw=lambda draw, x, p: None if draw.chance(0.3) else draw.integer(1, 6),
        ),
        "increasing": Choice(False, True),
    },
    rules={"few columns": Ours(lambda x, p: p.N is not None or x.shape[0] <= 9)},
    shape=lambda x, p: (x.shape[0], x.shape[0] if p.N is None else p.N),
    inputs=lambda draw: (TensorType(draw_dtype(draw, FLOATS), (draw.integer(1, 7),)),),
    output_ranks=(2,),
)
