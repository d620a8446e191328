"""Statistics of a comparison: medians, the exact two-sided test of Mann and Whitney, the size of the effect, and Holm's
correction over the comparisons of one criterion."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FEW = 6
"""Comparisons of one criterion: with five seeds against five the least p is 0.0079, and nothing survives more."""

SIZES = ((0.71, "large"), (0.64, "medium"), (0.56, "small"))
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """Ours against another. a12: how often a run of ours is ahead of one of theirs, ties by half. p: after Holm's
    correction, None where there are too few runs to say anything."""

    ours: float
    theirs: float
    runs: tuple[int, int]
    a12: float
    p: float | None

    @property
    def size(self) -> str:
        """The name of the effect's size, whichever of the two it favours; a single run says nothing."""
        if self.p is None and min(self.runs) < 2:
            return ""
        distance = max(self.a12, 1 - self.a12)
        return next((name for least, name in SIZES if distance >= least), "negligible")

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p <= LEVEL


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper one; of a single value, itself."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def a12(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How likely a run of ours is ahead (Vargha and Delaney)."""
    ahead = sum((one > two) + (one == two) / 2 for one in ours for two in theirs)
    return ahead / (len(ours) * len(theirs))


def mann_whitney(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """The exact two-sided p; None with fewer than two runs on either side. With ties it is that of the same ranks."""
    if min(len(ours), len(theirs)) < 2:
        return None
    from scipy.stats import mannwhitneyu  # half a second that only comparisons pay

    return float(mannwhitneyu(ours, theirs, alternative="two-sided", method="exact").pvalue)


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Corrected p-values: the smallest times how many there are, the next times one less, and never smaller than the
    one before."""
    corrected: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(values, key=lambda name: values[name])):
        least = max(least, min(1.0, values[name] * (len(values) - place)))
        corrected[name] = least
    return corrected


def most_comparisons(runs: int, others: int) -> int:
    """How many comparisons of one criterion a p can survive: with so many runs on both sides, the two orders that part
    them are the least likely ones."""
    least = 2 / math.comb(runs + others, runs)
    return max(FEW, int(LEVEL / least))


def compare(ours: Sequence[float], others: Mapping[str, Sequence[float]]) -> dict[str, Comparison]:
    """Ours against each of some others, by one criterion; at most six, or as many as the runs bear,
    get a p, in the order in which they are given."""
    most = most_comparisons(len(ours), min(map(len, others.values()), default=0))
    raw = {name: mann_whitney(ours, theirs) for name, theirs in list(others.items())[:most]}
    corrected = holm({name: p for name, p in raw.items() if p is not None})
    return {
        name: Comparison(median(ours), median(theirs), (len(ours), len(theirs)), a12(ours, theirs), corrected.get(name))
        for name, theirs in others.items()
    }
