"""Conditions on operators that add up products."""

import math
from typing import Any

from cometfuzz.catalogue.operators.products import vector_axes
from cometfuzz.catalogue.operators.subscripts import DOTS, parse, sizes
from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


@predicate
def second_has_a_batch(x: Any, p: Params) -> bool:
    """The first tensor has rows, and the second more axes than a matrix: dot is no matmul there."""
    return bool(x[0].rank > 1 and x[1].rank > 2)


@predicate
def no_vectors(x: Any, p: Params) -> bool:
    """One of the tensors has not just one axis."""
    return any(kind.rank != 1 for kind in x)


@predicate
def three_axes_or_more(x: Any, p: Params) -> bool:
    """The first tensor has at least three axes."""
    return bool(x[0].rank >= 3)


@predicate
def subscripts_with_spaces(x: Any, p: Params) -> bool:
    """The subscripts have spaces in them."""
    return " " in p.subscripts


@predicate
def subscripts_with_capitals(x: Any, p: Params) -> bool:
    """The output has a capital letter that not every operand has."""
    found = parse(p.subscripts)
    return any(each.isupper() and any(each not in term for term in found.operands) for each in found.output)


@predicate
def letters_before_dots(x: Any, p: Params) -> bool:
    """The output has letters before its dots, which stand for less in one operand than in another."""
    found = parse(p.subscripts)
    known = sizes(x, found)
    before, dots, _ = found.output.partition(DOTS)
    if known is None or not dots or not before:
        return False
    letters = [len(term.replace(DOTS, "")) for term in found.operands]
    return any(kind.rank - count < len(known.dots) for kind, count in zip(x, letters, strict=True))


@predicate
def implied_order_is_lost(x: Any, p: Params) -> bool:
    """The output is not said, and its letters, which are in the order of the alphabet, come in another one."""
    kept = parse(p.subscripts).output.replace(DOTS, "")
    return bool("->" not in p.subscripts and sorted(kept, key=p.subscripts.index) != list(kept))


@predicate
def dots_are_implied(x: Any, p: Params) -> bool:
    """The output is not said, and more than one operand has dots."""
    return bool("->" not in p.subscripts and p.subscripts.count(DOTS) > 1)


@predicate
def vectors_by_their_own_axes(x: Any, p: Params) -> bool:
    """No axis is named for all, and one that is not the last for one of them."""
    return p.axis is None and vector_axes(p) != (-1, -1, -1)


@predicate
def vectors_not_in_the_last_axis(x: Any, p: Params) -> bool:
    """An axis is named for all tensors, and is not -1."""
    return p.axis not in (None, -1)


@predicate
def vectors_of_two(x: Any, p: Params) -> bool:
    """One of the tensors has vectors of two numbers."""
    first, second, _ = vector_axes(p)
    return bool(x[0].shape[first] == 2 or x[1].shape[second] == 2)


@predicate
def an_earlier_axis_of_three(x: Any, p: Params) -> bool:
    """Vectors are in the last axis, and one before it has the size 3 as well."""
    return vector_axes(p) == (-1, -1, -1) and 3 in (*x[0].shape[:-1], *x[1].shape[:-1])


@predicate
def place_of_a_scalar(x: Any, p: Params) -> bool:
    """All vectors have two numbers, and the axis that is named for the result is none that it has."""
    first, second, third = vector_axes(p)
    rank = max(kind.rank for kind in x) - 1
    return bool(x[0].shape[first] == x[1].shape[second] == 2) and not -rank <= third < rank


@predicate
def ranks_differ(x: Any, p: Params) -> bool:
    """The tensors have different numbers of axes."""
    return len({kind.rank for kind in x}) > 1


@predicate
def second_is_longer(x: Any, p: Params) -> bool:
    """The second vector is longer than the first."""
    return bool(x[1].elements > x[0].elements)


@predicate
def first_is_even(x: Any, p: Params) -> bool:
    """The first tensor has an even number of elements."""
    return bool(math.prod(x[0].shape) % 2 == 0)


@predicate
def one_place_is_left(x: Any, p: Params) -> bool:
    """A correlation has one place, counted as if "same" were as long as the first vector."""
    n, m = x[0].elements, x[1].elements
    return bool({"valid": abs(n - m) + 1, "same": n, "full": n + m - 1}[p.mode] == 1)
