"""A row of bytes: what of many numbered things has executed, and what was tried in vain.

There are about a hundred thousand combinations of values and a campaign has a row for each route, so nothing may cost
more than a byte.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

GIVEN_UP_AFTER = 2
"""So many searches without a valid call, or models that failed, and a thing is taken for one that cannot be."""

COVERED = 255


class Row:
    """For each thing how often it failed, or that it is covered. What was given up may still be covered by chance."""

    def __init__(self, total: int) -> None:
        self.state = np.zeros(total, np.uint8)

    def summary(self) -> dict[str, int]:
        """Covered, total and reachable, as of other criteria; what was given up is taken for out of reach."""
        total, lost = len(self.state), int((self.state == GIVEN_UP_AFTER).sum())
        return {"covered": int((self.state == COVERED).sum()), "total": total, "reachable": total - lost}

    def gain(self, ids: Ids) -> int:
        """How many of some things would be new."""
        return int((self.state[ids] != COVERED).sum())

    def wants(self, ids: Ids) -> bool:
        """Whether some of these things are new and worth a try."""
        return bool((self.state[ids] < GIVEN_UP_AFTER).any())

    def cover(self, ids: Ids) -> None:
        """Count that things have executed."""
        self.state[ids] = COVERED

    def fail(self, ids: Ids) -> None:
        """Count that things were not to be had."""
        self.state[ids] += self.state[ids] < GIVEN_UP_AFTER

    def open(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The numbers from one to another that have not executed and are not given up."""
        return np.flatnonzero(self.state[start:stop] < GIVEN_UP_AFTER) + start
