"""Conditions on operators."""

import math
from typing import Any

from cometfuzz.catalogue.operators import axes_of, broadcast, many
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


@predicate
def broadcasts_the_first(x: Any, p: Params) -> bool:
    """The result has another shape than the first input."""
    return bool(broadcast(*(kind.shape for kind in x)) != x[0].shape)


@predicate
def keeps_all_axes(x: Any, p: Params) -> bool:
    """A reduction along all axes, which are not named, keeps them."""
    return p.axis is None and bool(p.keepdims)


@predicate
def axis_before_last_from_behind(x: Any, p: Params) -> bool:
    """An axis is counted from behind, and is not the last one."""
    return bool(p.axis < -1)


@predicate
def along_other_than_last(x: Any, p: Params) -> bool:
    """It goes along another axis than the last one, or along all of several."""
    rank = many(x)[0].rank
    return axes_of(p.axis, rank) != (rank - 1,)


@predicate
def leaves_several_axes(x: Any, p: Params) -> bool:
    """After a reduction several axes are left."""
    rank = many(x)[0].rank
    return rank - len(axes_of(p.axis, rank)) > 1


@predicate
def searches_rows(x: Any, p: Params) -> bool:
    """The numbers that are looked up, the second input, are more than one row of them."""
    return bool(math.prod(x[1].shape[:-1]) != 1)


@predicate
def along_all_of_three_axes(x: Any, p: Params) -> bool:
    """No axis is named, and there are three or more."""
    return p.axis is None and x.rank >= 3


@predicate
def one_axis_by_number(x: Any, p: Params) -> bool:
    """The axis is one number, not several or none."""
    return isinstance(p.axis, int)
