"""Rehearsal: a strategy without libraries, as if every case executed; and the curve of what it covers."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from cometfuzz.coverage.layers import CRITERIA
from cometfuzz.ir.case import Case
from cometfuzz.search.strategies import Feedback, Strategy, window_of


def rehearse(strategy: Strategy, cases: int, show: Callable[[Case], None] = lambda case: None) -> bool:
    """Propose cases; each is taken as executed a window later. True if the user interrupted."""
    flying: deque[Case] = deque()
    window, interrupted = window_of(strategy), False
    try:
        for _ in range(cases):
            if len(flying) == window:
                strategy.learn(flying.popleft(), Feedback(executed=True))
            flying.append(strategy.propose())
            show(flying[-1])
    except KeyboardInterrupt:
        interrupted = True
    for case in flying:
        strategy.learn(case, Feedback(executed=True))
    return interrupted


@dataclass
class Curve:
    """What a strategy had covered after how many cases, as shares of each space's total."""

    strategy: Strategy
    cases: list[int] = field(default_factory=list)
    shares: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def note(self, cases: int) -> None:
        self.cases.append(cases)
        for coverage in self.strategy.coverages:
            for criterion, counts in coverage.summary().items():
                share = counts["covered"] / counts["total"]
                self.shares.setdefault((coverage.space.name, criterion), []).append(share)

    def area(self, space: str, criterion: str) -> float:
        """The mean height of the curve: the area under it over its length."""
        heights = self.shares[space, criterion]
        area = sum(
            (after - before) * (low + high) / 2
            for before, after, low, high in zip(self.cases, self.cases[1:], heights, heights[1:], strict=False)
        )
        return area / (self.cases[-1] - self.cases[0])

    def areas(self, space: str) -> dict[str, float]:
        return {criterion: self.area(space, criterion) for criterion in CRITERIA}
