"""Draw: the only randomness in cometfuzz.

A Draw is named by a seed and a path, so that what one part draws never shifts what another part draws. Only
operations that give the same bits on every machine are used: no logarithm, no cosine, no numpy distribution.
"""

import hashlib
import math
from collections.abc import Sequence
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Draw:
    """A stream of choices that is fully determined by `path`.

    wide: whether sizes drawn with it are those at which libraries change their ways (`catalogue.spaces.WIDE`).
    """

    def __init__(self, *path: int | str, wide: bool = False) -> None:
        self.path, self.wide = path, wide
        digest = hashlib.sha256("\0".join(f"{type(part).__name__}:{part}" for part in path).encode()).digest()
        self._entropy = int.from_bytes(digest[:16], "big")
        self._random = Random(self._entropy)
        self._fraction = self._random.random

    def child(self, *path: int | str) -> "Draw":
        """An independent stream below this one; drawing from it leaves this one untouched."""
        return Draw(*self.path, *path, wide=self.wide)

    def widened(self) -> "Draw":
        """An independent stream below this one that draws wide sizes."""
        return Draw(*self.path, "wide", wide=True)

    def fraction(self) -> float:
        """A number in [0, 1)."""
        return self._fraction()

    def chance(self, probability: float) -> bool:
        return self._fraction() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._fraction() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        return options[int(self._fraction() * len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        result = list(options)
        for last in range(len(result) - 1, 0, -1):
            other = int(self._fraction() * (last + 1))
            result[last], result[other] = result[other], result[last]
        return result

    def uniforms(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """An array of numbers in [0, 1), with 53 random bits each."""
        raw = np.random.PCG64(self._random.getrandbits(64)).random_raw(math.prod(shape))
        return ((np.asarray(raw, dtype=np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(tuple(shape))

    def bells(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """An array with a bell-shaped distribution of mean 0 and deviation 1, within [-3, 3]."""
        total: NDArray[np.float64] = self.uniforms((3, *shape)).sum(axis=0)
        return total * 2.0 - 3.0
