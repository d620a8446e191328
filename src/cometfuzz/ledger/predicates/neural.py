"""Conditions on operators that layers are made of."""

from typing import Any

from cometfuzz.catalogue.operators import axes_of
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate
from cometfuzz.ledger.predicates.inputs import all_of


@predicate
def several_axes(x: Any, p: Params) -> bool:
    """Axes are given as a list, if only of one."""
    return isinstance(p.axis, tuple)


@predicate
def axes_are_not_the_last(x: Any, p: Params) -> bool:
    """What is normalised along are not just the last axes."""
    rank = all_of(x)[0].rank
    axes = sorted(axes_of(p.axis, rank))
    return axes != list(range(rank - len(axes), rank))


@predicate
def offset_without_scale(x: Any, p: Params) -> bool:
    """An offset is given, and no scale."""
    return len(x) == 4


@predicate
def classes_not_in_the_last_axis(x: Any, p: Params) -> bool:
    """The classes are not along the last axis."""
    return bool(p.axis % x[1].rank != x[1].rank - 1)


@predicate
def one_key_head_for_several(x: Any, p: Params) -> bool:
    """Attention has one head of keys and values for several heads of queries."""
    return bool(x[1].shape[2] == 1 < x[0].shape[2])


@predicate
def bias_and_mask(x: Any, p: Params) -> bool:
    """Attention has both a bias and a mask."""
    return len(x) == 5


@predicate
def one_size_for_all_axes(x: Any, p: Params) -> bool:
    """The size of the output is one number for all axes."""
    return isinstance(p.output_size, int)


@predicate
def strides_differ(x: Any, p: Params) -> bool:
    """Strides are not the same along all axes."""
    return isinstance(p.strides, tuple) and len(set(p.strides)) > 1


@predicate
def strides_not_given(x: Any, p: Params) -> bool:
    """Strides are left to the size of the pool."""
    return p.strides is None
