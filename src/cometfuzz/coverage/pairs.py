"""Pairs: which values of two factors of a layer call have been executed together.

When every value has been seen by itself, defects that need two are left: a padding with a stride, a dtype with a rank,
NaN with an activation. There are several times ten thousand of them.
"""

from functools import cache
from itertools import combinations

from cometfuzz.coverage.combinations import CombinationCoverage, CombinationSpace
from cometfuzz.coverage.factors import REST

PAIRS = "pairs"

ONLY_IN_THREES = (REST,)
"""Factors that mean something only beside two others: whether a size is a multiple of the stride shows with a padding
and a window."""


@cache
def pair_space() -> CombinationSpace:
    """The space; it is made when somebody asks for the first time."""
    return CombinationSpace(PAIRS, lambda factors: combinations(range(len(factors)), 2), ONLY_IN_THREES)


class PairCoverage(CombinationCoverage):
    """Which pairs have executed, and how often one that was gone for could not be planned, or failed."""

    def __init__(self) -> None:
        super().__init__(pair_space())
