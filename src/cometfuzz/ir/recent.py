"""A function of an object that remembers what it gave for the last few of them."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST = 64
"""How many results are kept: more than a campaign has cases and parts of them under way."""

MOST_BYTES = 64 * 2**20
"""How large they may be together; a result that is larger by itself is made again whenever it is asked for."""


class Recent(Generic[K, V]):
    """`make`, which must give equal results for the same object, asked once while the object is in use.

    Whoever works on a case asks for its tensors and its text, and need not hand them on. They do not become part of
    the case, since cases are kept in lists, and would keep them alive. Objects are told apart by identity, because to
    compare two large graphs takes as long as to make a result. Safe to ask from several threads: at worst two of them
    make the same result.
    """

    def __init__(self, make: Callable[[K], V], bytes_of: Callable[[V], int]) -> None:
        self._make, self._bytes_of = make, bytes_of
        self._kept: OrderedDict[int, tuple[K, V, int]] = OrderedDict()  # with the object, or its id could be reused
        self._bytes = 0
        self._guard = threading.Lock()

    def __call__(self, key: K) -> V:
        with self._guard:
            if id(key) in self._kept:
                self._kept.move_to_end(id(key))
                return self._kept[id(key)][1]
        result = self._make(key)
        self._keep(key, result, self._bytes_of(result))
        return result

    def _keep(self, key: K, result: V, size: int) -> None:
        with self._guard:
            if size > MOST_BYTES or id(key) in self._kept:
                return
            self._kept[id(key)] = key, result, size
            self._bytes += size
            while len(self._kept) > MOST or self._bytes > MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1][2]
