"""Conditions on normalisation layers."""

from typing import Any

from cometfuzz.catalogue.normalisation import are_last, positive
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.predicates import predicate


@predicate
def normalises_last_axes(x: TensorType, p: Params) -> bool:
    """The axes to normalise over are the last ones."""
    return are_last(p.axis, x.rank)


@predicate
def normalises_inner_neighbours(x: TensorType, p: Params) -> bool:
    """The axes are neighbours, but not the last ones: Keras on PyTorch calls a kernel that only knows the last."""
    axes = sorted(positive(p.axis, x.rank))
    return not are_last(p.axis, x.rank) and axes == list(range(axes[0], axes[0] + len(axes)))


@predicate
def last_axes_look_alike(x: TensorType, p: Params) -> bool:
    """The last axes happen to have the sizes of the wanted ones, so that such a kernel takes them."""
    axes = sorted(positive(p.axis, x.rank))
    return x.shape[x.rank - len(axes) :] == tuple(x.shape[axis] for axis in axes)


@predicate
def scale_broadcasts(x: TensorType, p: Params) -> bool:
    """A scale that nobody reshaped broadcasts against the input's last axes."""
    axes = sorted(positive(p.axis, x.rank))
    pairs = [(x.shape[axis], x.shape[x.rank - len(axes) + slot]) for slot, axis in enumerate(axes)]
    return all(size == last or 1 in (size, last) for size, last in pairs)


@predicate
def lacks_scale_or_center(x: Any, p: Params) -> bool:
    """A normalisation without gamma or without beta."""
    return not p.scale or not p.center
