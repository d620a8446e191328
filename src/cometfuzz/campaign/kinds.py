"""Kinds of findings: how many there are, what came lately, and an estimate of how many have not shown yet."""

import math
from collections import Counter, deque
from hashlib import blake2b
from typing import NamedTuple

LATELY_S = 600
QUIET_S = 1800
"""So long without a new kind, and with hardly one left by the estimate, and a campaign without bounds is over."""


class Estimate(NamedTuple):
    """How many kinds are left to be seen, and the standard error of that number."""

    left: float
    error: float


class Kinds:
    """Counts findings by their keys, each in eight bytes."""

    def __init__(self) -> None:
        self._times: Counter[int] = Counter()
        self._fresh: deque[float] = deque()
        self.newest_s = 0.0
        """When a kind was last seen for the first time."""

    def know(self, key: str) -> None:
        """A kind that an earlier run has seen."""
        self._times[_digest(key)] += 1

    def take(self, key: str, elapsed_s: float) -> bool:
        """Count a finding; True if its kind is new."""
        digest = _digest(key)
        self._times[digest] += 1
        new = self._times[digest] == 1
        if new:
            self.newest_s = elapsed_s
            self._fresh.append(elapsed_s)
        return new

    def lately(self, now_s: float) -> int:
        """How many kinds were new in the last ten minutes."""
        while self._fresh and self._fresh[0] < now_s - LATELY_S:
            self._fresh.popleft()
        return len(self._fresh)

    def estimate(self) -> Estimate | None:
        """What is left, by how many kinds were seen once and how many twice (Chao 1984, in its bias-corrected form);
        None before there are any. It is a lower bound of what a campaign of this sort would find in the end, and knows
        nothing of what it never could."""
        if not self._times:
            return None
        counts = Counter(min(times, 3) for times in self._times.values())
        once, twice = counts[1], counts[2]
        left = once * (once - 1) / (2 * (twice + 1))
        variance = (
            left
            + once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
            + once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
        )
        return Estimate(left, math.sqrt(variance))

    def is_quiet(self, now_s: float) -> bool:
        """Whether nothing new came for long, and hardly anything is to be expected."""
        estimate = self.estimate()
        return now_s - self.newest_s > QUIET_S and (estimate is None or estimate.left < 1)


def _digest(key: str) -> int:
    """Eight bytes in place of a long key; the same in every process."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big")
