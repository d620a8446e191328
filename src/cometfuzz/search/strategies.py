"""Strategies: `propose() -> Case`, `learn(case, feedback)`. Here the paper's own, and its random ablation.

Case i draws from Draw(seed, i) and sees only feedback for cases before i - window, in order of index, so that the cases
are the same whatever the number of jobs (DESIGN, decision 6). What a case in flight would cover is claimed: no other
case goes for it. A failure releases its claims; after three failures an item is parked.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cometfuzz.coverage.gain import Coverage, Fact, facts_of
from cometfuzz.coverage.layers import full_space, paper_space
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation import MUTATIONS
from cometfuzz.mutation.base import Guide, Inapplicable, Limits
from cometfuzz.search.metropolis import Metropolis, P
from cometfuzz.search.pool import Pool

LAMBDA = 0.5
TRIES = 50
PARKED_AFTER = 3
WINDOW = 8


@dataclass(frozen=True)
class Feedback:
    """What became of a case: whether it executed, and whether it reached new branches (None: nobody looked)."""

    executed: bool
    new_branches: bool | None = None


class Strategy(Protocol):
    """Proposes cases and learns from them; both in order of index."""

    def propose(self) -> Case: ...

    def learn(self, case: Case, feedback: Feedback) -> None: ...


@dataclass
class _Flight:
    operator: str
    claims: tuple[Fact, ...]


class Comet:
    """Metropolis-Hastings over the eight mutations, guided by what is uncovered."""

    def __init__(
        self, seed: int, seeds: Sequence[Graph], limits: Limits | None = None, p: float = P, sigma: int = 5
    ) -> None:
        self.seed, self.index = seed, 0
        self.limits = limits or Limits()
        self.pool = Pool(seeds)
        self.coverages = (Coverage(paper_space(sigma)), Coverage(full_space(sigma)))
        self.metropolis = Metropolis(tuple(MUTATIONS), p)
        self._claimed: Counter[Fact] = Counter()
        self._failures: Counter[Fact] = Counter()
        self._flights: dict[int, _Flight] = {}
        for graph in seeds:
            self._commit(facts_of(graph, coverage.space) for coverage in self.coverages)

    def choose(self, draw: Draw) -> str:
        """The operator for the next case."""
        return self.metropolis.choose(draw)

    def propose(self) -> Case:
        draw, self.index = Draw(self.seed, self.index), self.index + 1
        guide = Guide(self.coverages, _Avoided(self._claimed, self._failures))
        for _ in range(TRIES):
            operator = self.choose(draw)
            try:
                graph = MUTATIONS[operator](self.pool.choose(draw), guide, draw, self.limits)
            except Inapplicable:
                self.metropolis.learn(operator, 0.0, applied=False)
                continue
            claims = tuple(dict.fromkeys(fact for coverage in self.coverages for fact in coverage.gain(graph).facts))
            self._claimed.update(claims)
            case = Case(graph, draw.integer(0, 2**32))
            self._flights[case.rng_seed] = _Flight(operator, claims)
            return case
        raise CometfuzzError(f"expected an operator that applies; received none in {TRIES} tries at case {self.index}")

    def learn(self, case: Case, feedback: Feedback) -> None:
        flight = self._flights.pop(case.rng_seed)
        self._claimed.subtract(flight.claims)
        self._claimed += Counter()
        diverse = False
        if feedback.executed:
            gains = [coverage.cover(case.graph) for coverage in self.coverages]
            diverse = any(gains)
        else:
            self._failures.update(flight.claims)
        if diverse or feedback.new_branches:
            self.pool.add(case.graph, Draw(self.seed, "pool", self.index))
        branch = feedback.new_branches
        score = float(diverse) if branch is None else LAMBDA * diverse + (1 - LAMBDA) * branch
        self.metropolis.learn(flight.operator, score)

    def _commit(self, facts: Iterable[Iterable[Fact]]) -> None:
        for coverage, found in zip(self.coverages, facts, strict=True):
            coverage.add(found)


class CometRandom(Comet):
    """The ablation: operators by chance; the pool still grows."""

    def choose(self, draw: Draw) -> str:
        return draw.choice(list(MUTATIONS))


@dataclass(frozen=True)
class _Avoided:
    claimed: Counter[Fact]
    failures: Counter[Fact]

    def __contains__(self, fact: object) -> bool:
        return isinstance(fact, Fact) and (self.claimed[fact] > 0 or self.failures[fact] >= PARKED_AFTER)


STRATEGIES: dict[str, Callable[[int, Sequence[Graph]], Comet]] = {"comet": Comet, "comet-r": CometRandom}
