"""Goals: what is missing of some spaces and can be reached, in an order by lot, read anew now and then."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import Item
from cometfuzz.draw import Draw

REFRESHED_AFTER = 64
"""After so many cases goals are read anew."""

READ_A_CASE = 64
"""How many items may be read for each case that is made: a long list lasts longer and costs more to read."""

PROBED_AFTER = 2
"""So many failures to plan an item within its dialect, and it is tried as a probe."""

GIVEN_UP_AFTER = 6


def is_sequence(item: Item) -> bool:
    return item.criterion == "sequences"


def _by_turns(items: Iterable[Item]) -> Iterator[Item]:
    """An item of a call and a sequence by turns, as long as there are both: among operators there are twelve sequences
    to each of the others, which would wait for the last of them."""
    parts: tuple[list[Item], list[Item]] = ([], [])
    for item in items:
        parts[is_sequence(item)].append(item)
    return (item for pair in zip_longest(*parts) for item in pair if item is not None)


class Goals:
    """Items of one or more spaces, those of the first space first.

    What no plan was found for comes back at the end; after two failures it stands among the probes, in which known
    defects do not matter, and after six it is given up.
    """

    def __init__(self, coverages: Sequence[Coverage], is_wanted: Callable[[Item], bool]) -> None:
        self.coverages, self.is_wanted = coverages, is_wanted
        self.items: deque[Item] = deque()
        self.probes: deque[Item] = deque()
        self.unplanned: dict[Item, int] = {}
        """How often no plan was found for an item."""
        self._read_next = 0

    def __len__(self) -> int:
        return len(self.items)

    def read(self, draw: Draw, made: int) -> None:
        """Read what is missing, if it is time to; made: how many cases there are."""
        if made < self._read_next:
            return
        self.items.clear()
        self.probes.clear()
        size = 0
        for coverage in self.coverages:
            found = coverage.open_items()
            size += len(found)
            for item in _by_turns(draw.shuffled(found)):
                self._put(item)
        self._read_next = made + max(REFRESHED_AFTER, size // READ_A_CASE)

    def next(self) -> Item | None:
        """The next item that is still wanted."""
        return self._pop(self.items)

    def next_probe(self) -> Item | None:
        """The next item to go for whatever is known against it."""
        return self._pop(self.probes)

    def put_back(self, item: Item) -> None:
        """It was not gone for."""
        self.items.appendleft(item)

    def fail(self, item: Item) -> None:
        """No plan was found for it."""
        self.unplanned[item] = self.unplanned.get(item, 0) + 1
        self._put(item)

    def _put(self, item: Item) -> None:
        failures = self.unplanned.get(item, 0)
        if failures < PROBED_AFTER:
            self.items.append(item)
        elif failures < GIVEN_UP_AFTER:
            self.probes.append(item)

    def _pop(self, items: deque[Item]) -> Item | None:
        while items:
            if self.is_wanted(item := items.popleft()):
                return item
        return None
