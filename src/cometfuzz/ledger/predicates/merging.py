"""Conditions on merging layers, and on additions inside of others."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.catalogue.merging import dot_axes
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate

Shape = tuple[int, ...]
MOST_GROUPS = 5


def _groups(left: Shape, right: Shape) -> int:
    """How many axes are left when TensorFlow has joined neighbours that broadcast alike."""
    kinds = [
        (a == 1, b == 1) if a != b else (False, False) for a, b in zip(left, right, strict=True) if (a, b) != (1, 1)
    ]
    return sum(1 for before, kind in zip([None, *kinds], kinds, strict=False) if before != kind)


def _steps(x: Any) -> Iterator[tuple[Shape, Shape, Shape]]:
    """(shape so far, next input's shape, result's shape) for each step from input to input."""
    rank = max(kind.rank for kind in x)
    shapes = [(*kind.shape[:1], *[1] * (rank - kind.rank), *kind.shape[1:]) for kind in x]
    so_far = shapes[0]
    for shape in shapes[1:]:
        result = tuple(b if a == 1 else a for a, b in zip(so_far, shape, strict=True))
        yield so_far, shape, result
        so_far = result


def _taken_for_bias(left: Shape, right: Shape) -> int | None:
    """The axis of `right`, from the end, that makes Keras on TensorFlow take it for a bias: the only one above 1.

    Its size has to be that of the last axis or of axis 1 of `left`, wherever it lies itself.
    """
    long = [axis - len(right) for axis, size in enumerate(right) if size > 1]
    return long[0] if len(long) == 1 and len(left) > 1 and right[long[0]] in (left[1], left[-1]) else None


def adds_along_another_axis(left: Shape, right: Shape) -> bool:
    """Whether such a bias is added along the last axis or axis 1 although it lies along another."""
    axis = _taken_for_bias(left, right)
    return axis is not None and 0 not in right and axis != (-1 if left[-1] == right[axis] else 1 - len(left))


def adds_nothing(left: Shape, right: Shape) -> bool:
    """Whether such a bias is empty: then an axis of size 0 is left beside its own."""
    return _taken_for_bias(left, right) is not None and 0 in right


@predicate
def sum_goes_astray(x: Any, p: Params) -> bool:
    """Keras on TensorFlow takes an operand for a bias, and adds it along another axis than broadcasting says."""
    return any(adds_along_another_axis(left, right) for left, right, _ in _steps(x))


@predicate
def sums_nothing(x: Any, p: Params) -> bool:
    """Keras on TensorFlow takes an empty operand for a bias."""
    return any(adds_nothing(left, right) for left, right, _ in _steps(x))


@predicate
def broadcasts_in_many_groups(x: Any, p: Params) -> bool:
    """A step has more broadcast groups than TensorFlow has kernels for."""
    return any(0 not in result and _groups(left, right) > MOST_GROUPS for left, right, result in _steps(x))


@predicate
def masks_of_several_lengths(x: Any, p: Params) -> bool:
    """Masked inputs have different numbers of steps."""
    return len({kind.shape[1] for kind in x if kind.masked}) > 1


@predicate
def half_masked(x: Any, p: Params) -> bool:
    """Masks of size 1 along the features have to meet masks of their full size, off the features' axis."""
    found = {kind.masked for kind in x}
    return len(found) == 2 and p.axis % x[0].rank != x[0].rank - 1 and x[0].shape[-1] != 1


@predicate
def dot_of_nothing(x: Any, p: Params) -> bool:
    """Keras flattens an input of rank above 3 to (batch, summed axis, -1), and one of them is 0."""
    axes = dot_axes(x, p) or (1, 1)
    return any(kind.rank > 3 for kind in x) and 0 in (x[0].shape[0], x[0].shape[axes[0]])
