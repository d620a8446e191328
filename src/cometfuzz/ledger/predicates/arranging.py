"""Conditions on operators that move, join, split or choose elements."""

import re
from typing import Any

from cometfuzz.catalogue.operators import axes_of
from cometfuzz.catalogue.operators.repeating import pads
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate
from cometfuzz.ledger.predicates.inputs import all_of


@predicate
def turns_upside_down(x: Any, p: Params) -> bool:
    """rot90 by half turns, of axes that have different sizes."""
    first, second = (x.shape[axis] for axis in p.axes)
    return bool(p.k % 2 == 0 and first != second)


@predicate
def repeats_by_element(x: Any, p: Params) -> bool:
    """repeat has a number for each element."""
    return isinstance(p.repeats, tuple)


@predicate
def repeats_along_an_axis(x: Any, p: Params) -> bool:
    """repeat has a number for each element along an axis."""
    return isinstance(p.repeats, tuple) and p.axis is not None


@predicate
def splits_at_indices(x: Any, p: Params) -> bool:
    """A split says where, not into how many parts."""
    return not isinstance(p.indices_or_sections, int)


@predicate
def fold_ends_elsewhere(x: Any, p: Params) -> bool:
    """The transposed convolution by which JAX folds, less the padding, has not the size of the image."""
    for size, k, d, pad, stride in zip(p.output_size, p.kernel_size, p.dilation, p.padding, p.stride, strict=True):
        extent, padded = d * (k - 1) + 1, size + 2 * pad
        made = ((padded - extent) // stride + 1) * stride + max(extent - stride, 0)
        if (min(made, padded - pad) - pad if any(p.padding) else made) != size:
            return True
    return False


@predicate
def width_in_a_tuple(x: Any, p: Params) -> bool:
    """The width of pad is one number in a tuple."""
    return isinstance(p.pad_width, tuple) and not isinstance(p.pad_width[0], tuple)


@predicate
def one_width_for_all(x: Any, p: Params) -> bool:
    """The width of pad is one number, or one pair, for several axes."""
    width = p.pad_width
    return bool(x.rank > 1 and (isinstance(width, int) or (isinstance(width[0], tuple) and len(width) == 1)))


@predicate
def mirrors_two_pixels(x: Any, p: Params) -> bool:
    """pad mirrors more than what is next to an edge."""
    return bool(p.mode == "symmetric" and max(map(max, pads(p, x.rank))) > 1)


@predicate
def mirrors_as_pytorch_cannot(x: Any, p: Params) -> bool:
    """pad mirrors along as many of the last axes as torch.nn.functional.pad does not, of a tensor of that rank."""
    pairs = pads(p, x.rank)
    if isinstance(p.pad_width, int) or len(p.pad_width) == 1:
        pairs = pairs[:1]  # Keras hands on the one pair
    count = len(pairs) - next((axis for axis, pair in enumerate(pairs) if max(pair)), len(pairs) - 1)
    return bool(p.mode != "constant" and count not in {3: (1, 2), 4: (2, 3), 5: (3,)}[max(3, x.rank)])


@predicate
def band_leaves_the_matrix(x: Any, p: Params) -> bool:
    """The band that tril or triu keeps goes beyond the matrix."""
    rows, columns = x.shape[-2:]
    return bool(p.k > columns or -p.k > rows)


def _plane(x: Any, p: Params) -> tuple[int, int, int]:
    """Rows, columns and which diagonal, of trace, diagonal and diag."""
    if "k" in p:
        return x.shape[0], x.shape[1], p.k
    first, second = axes_of((p.axis1, p.axis2), x.rank)
    return x.shape[first], x.shape[second], p.offset


@predicate
def diagonal_is_empty(x: Any, p: Params) -> bool:
    """The diagonal lies beyond the matrix."""
    if x.rank < 2:
        return False
    rows, columns, offset = _plane(x, p)
    return bool(offset and (offset <= -rows or offset >= columns))


@predicate
def eye_has_other_sizes(x: Any, p: Params) -> bool:
    """What TensorFlow's backend puts together as an eye with this offset has not the sizes of the matrix."""
    rows, columns, offset = _plane(x, p)
    if offset == 0:
        return False
    square = min(columns - offset, rows + offset)
    sizes = (
        max(-offset, 0) + square + max(rows - columns + offset, 0),
        max(offset, 0) + square + max(columns - rows - offset, 0),
    )
    return bool(square < 0 or sizes != (rows, columns))


@predicate
def rank_1(x: Any, p: Params) -> bool:
    """One axis."""
    return bool(all_of(x)[0].rank == 1)


@predicate
def one_input(x: Any, p: Params) -> bool:
    """One tensor is given."""
    return len(all_of(x)) == 1


@predicate
def steps_backwards(x: Any, p: Params) -> bool:
    """A slice has a negative step."""
    return any(isinstance(part, tuple) and (part[2] or 1) < 0 for part in p["key"])


@predicate
def indices_may_repeat(x: Any, p: Params) -> bool:
    """Several indices are given, which may be the same."""
    return bool(x[0].shape[0] > 1)


@predicate
def chooses_bfloat16(x: Any, p: Params) -> bool:
    """select chooses among bfloat16 tensors."""
    return bool(x[-1].dtype == "bfloat16")


@predicate
def a_length_is_inferred(x: Any, p: Params) -> bool:
    """A group of the pattern has a letter whose length is not given."""
    given = dict(p.axes_lengths)
    groups = re.findall(r"\(([^)]*)\)", p.pattern.partition("->")[0])
    return any(letter not in given for group in groups for letter in group.split())
