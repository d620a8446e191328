"""Strategies: `propose() -> Case`, `learn(case, feedback)`, and what those of ours share.

Case i draws from Draw(seed, i) and sees only feedback for cases before i - window, in order of index, so that the cases
are the same whatever the number of jobs. What a case in flight would cover is claimed: no other
case goes for it. A failure releases its claims; after three failures an item is parked.

Strategies are entry points of the group "cometfuzz.strategies": a package from outside adds one by declaring it.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Protocol

import msgspec

from cometfuzz.coverage.gain import Coverage, Fact, Gain
from cometfuzz.coverage.layers import SIGMA, SPACES
from cometfuzz.coverage.offered import offered_space
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError, UnknownName
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation import PAPER
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import Dialect, Dialects, usual_dialects
from cometfuzz.mutation.repair import trim
from cometfuzz.mutation.special_input import is_multiplied
from cometfuzz.plugins import Plugins
from cometfuzz.search.pool import Pool

GROUP = "cometfuzz.strategies"
PARKED_AFTER = 3
SEED = "seed"
WINDOW = 8
FOR_A_ROUTE = "for a route"
"""How a case is said to be made that covers something new on a dear route; the policy lets such routes have it."""

LARGE = 2**62
SPECIAL, SPECIAL_SHARE = "SpecialI", 0.05
"""The mutation behind whose product all is NaN, and the largest share of cases that it may make."""


@dataclass(frozen=True)
class Lead:
    """A finding of a kind that no case before has shown and that the ledger does not explain.

    calls: those that it names, each as the text of a case with one call; none where nobody can say which, or where a
    plain model would not show it. routes: those that failed. stops: whether there was no result at all. oddity: how the
    data was odd, by its name in `search.odd`.
    """

    calls: tuple[str, ...]
    routes: tuple[str, ...]
    stops: bool = False
    oddity: str = ""


@dataclass(frozen=True)
class Feedback:
    """What became of a case.

    executed: on some library. new_branches: whether it reached some (None: nobody looked). nonfinite: whether NaN or
    Inf came out without a special value; such a graph would spoil those made of it, so it stays out of the pool. leads:
    the kinds of findings that it was the first to show. What follows is of the base routes, and for baselines that
    learn from it. inconsistency: the D_MAD of all instances and all pairs of routes added up. failed: whether one
    raised or died where another completed. magnitude: the largest finite |y|. None where nothing ran.
    """

    executed: bool
    new_branches: bool | None = None
    nonfinite: bool = False
    leads: tuple[Lead, ...] = ()
    inconsistency: float | None = None
    failed: bool = False
    magnitude: float | None = None

    def as_plain(self) -> dict[str, Any]:
        """The form in JSON; what most cases do not have is left out where it says nothing."""
        plain = {"executed": self.executed, "new_branches": self.new_branches, "nonfinite": self.nonfinite}
        leads = [{**vars(lead), "calls": list(lead.calls), "routes": list(lead.routes)} for lead in self.leads]
        seldom = {
            "leads": leads or None,
            "inconsistency": self.inconsistency,
            "failed": self.failed or None,
            "magnitude": self.magnitude,
        }
        return plain | {name: value for name, value in seldom.items() if value is not None}

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "Feedback":
        """ValueError if it is not of this form."""
        if unknown := plain.keys() - {each.name for each in fields(Feedback)}:
            raise ValueError(f"{min(unknown)!r:.80}, which nobody knows")
        return msgspec.convert(plain, Feedback)


@dataclass(frozen=True)
class RouteGoals:
    """What is left to do on dear routes, for strategies that make models for them.

    ran: what has executed on each route; the campaign counts it before a strategy learns of a case. dialects: what may
    be said on each of them. largest: how many layers they take at once. behind: which of them would get a model now.
    """

    ran: RouteCoverage
    dialects: Mapping[str, Dialect]
    largest: int
    behind: Callable[[], Collection[str]]


@dataclass(frozen=True)
class Options:
    """What every strategy is made with."""

    seed: int
    seeds: Sequence[Graph]
    limits: ModelLimits = field(default_factory=ModelLimits)
    sigma: int = SIGMA
    dialects: Dialects = field(default_factory=usual_dialects)
    mutations: tuple[str, ...] = ()
    """Installed mutations that take part beside the paper's eight."""
    goals: RouteGoals | None = None
    """None where nothing is executed."""


class Strategy(Protocol):
    """Proposes cases and learns from them; both in order of index."""

    @property
    def coverages(self) -> Sequence[Coverage]: ...

    @property
    def pool(self) -> Sized: ...

    def propose(self) -> Case: ...

    def learn(self, case: Case, feedback: Feedback) -> None: ...

    def operators(self) -> Mapping[str, Mapping[str, float]]:
        """How each of its ways to make a case did: attempts, applied, fitness."""


@dataclass(frozen=True)
class Flight:
    """A case that has been proposed and not yet learned of.

    gains: what it would cover, for each coverage. The same words may be true in one space and not in the other: the
    paper's sequences go through utility nodes. aim: the dear route that it is made for, whatever is new there.
    """

    case: Case
    operator: str
    gains: tuple[Gain, ...]
    probe: bool
    aim: str = ""

    @property
    def claims(self) -> tuple[Fact, ...]:
        return tuple(dict.fromkeys(fact for gain in self.gains for fact in gain.facts))


class Search:
    """What our strategies share: a coverage of each space, a pool, and the claims of cases in flight."""

    def __init__(self, options: Options) -> None:
        self.seed, self.limits, self.index, self.dialects = options.seed, options.limits, 0, options.dialects
        self.mutations = (*PAPER, *options.mutations)
        seeds = offered_seeds(options)
        self.pool = Pool(seeds)
        self.unseen = deque(seeds)
        """Seeds that no case has been made of yet: they come first, since coverage counts what is executed."""
        spaces = (offered_space(space(options.sigma), options.dialects.offering) for space in SPACES)
        self.coverages = tuple(map(Coverage, spaces))
        self.avoided = Avoided()
        self.flights: deque[Flight] = deque()
        self.multiplied = 0
        """Cases with a product of SpecialI."""
        self.guide = Guide(self.coverages, self.avoided)

    def propose(self) -> Case:
        """The next case: every seed once, then what the strategy makes."""
        self.index += 1
        draw = Draw(self.seed, self.index - 1)
        return self.launch(self.unseen.popleft(), SEED, draw) if self.unseen else self.make(draw)

    def make(self, draw: Draw) -> Case:
        """A case of the strategy's own making, launched."""
        raise NotImplementedError

    def is_worth_keeping(self, gains: Sequence[Gain], feedback: Feedback) -> bool:
        """Whether a graph that adds so much to each coverage is worth mutating again."""
        return any(gains) or bool(feedback.new_branches)

    def is_due(self, operator: str) -> bool:
        """Whether a mutation may make one more case."""
        return operator != SPECIAL or self.multiplied < SPECIAL_SHARE * self.index

    @property
    def claimed(self) -> Counter[Fact]:
        """What cases in flight go for, and how many of them."""
        return self.avoided.claimed

    @property
    def failures(self) -> Counter[Fact]:
        """How many cases that went for something failed."""
        return self.avoided.failures

    @property
    def last_operator(self) -> str:
        """How the case that was proposed last was made."""
        return self.flights[-1].operator

    @property
    def last_aim(self) -> str:
        """The dear route that the case which was proposed last must reach, or nothing."""
        return self.flights[-1].aim

    def launch(
        self,
        graph: Graph,
        operator: str,
        draw: Draw,
        probe: bool = False,
        data: Mapping[str, Tensor] | None = None,
        aim: str = "",
        rng_seed: int | None = None,
    ) -> Case:
        """The case of a graph, with what it would cover claimed; `data`: what of it is not drawn later, `rng_seed`:
        from what the rest is, where that is not another one for each case."""
        case = Case(graph, draw.integer(0, 2**32) if rng_seed is None else rng_seed, data or {})
        flight = Flight(case, operator, tuple(coverage.gain(graph) for coverage in self.coverages), probe, aim)
        self.multiplied += is_multiplied(graph)
        self.avoided.claim(flight.claims)
        self.flights.append(flight)
        return case

    def land(self, case: Case, feedback: Feedback) -> tuple[Flight, list[Gain]]:
        """Release the claims of the oldest case in flight, and count what it covered if it executed."""
        flight = self.flights.popleft()
        if flight.case is not case:
            raise ValueError("expected feedback in the order of the cases; received it in another")
        self.avoided.release(flight.claims, failed=not feedback.executed)
        if not feedback.executed:
            return flight, [Gain(()) for _ in self.coverages]
        gains = [coverage.take(gain.facts) for coverage, gain in zip(self.coverages, flight.gains, strict=True)]
        fit = flight.operator != SEED and not flight.probe and not feedback.nonfinite and not is_multiplied(case.graph)
        if fit and self.is_worth_keeping(gains, feedback):
            self.pool.add(case.graph, Draw(self.seed, "pool", self.index))
        return flight, gains


def offered_seeds(options: Options) -> list[Graph]:
    """The seeds as far as the libraries have what is in them: with simpler values where one is lacking, in part where a
    layer is; one of which nothing is left is left out."""
    found: list[Graph] = []
    for number, graph in enumerate(options.seeds):
        kept = options.dialects.simplified(graph)
        if kept is None:
            limits = ModelLimits(len(graph.nodes), LARGE, LARGE, LARGE, options.dialects.of(graph).lenient)
            with suppress(Inapplicable):
                kept = trim(graph, Draw(options.seed, "offered", number), limits)
        found += [kept] if kept is not None else []
    if not found:
        raise CometfuzzError("expected a seed of which the libraries have a part; received none")
    return found


@dataclass
class Avoided:
    """Facts not to go for: claimed by a case in flight, or parked."""

    failures: Counter[Fact] = field(default_factory=Counter)
    claimed: Counter[Fact] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)

    def claim(self, facts: Iterable[Fact]) -> None:
        """A case in flight goes for these."""
        for fact in facts:
            self.claimed[fact] += 1
            self.changes[fact.layer] += 1

    def release(self, facts: Iterable[Fact], failed: bool) -> None:
        """One that went for these has landed."""
        for fact in facts:
            self.claimed[fact] -= 1
            if not self.claimed[fact]:
                del self.claimed[fact]
            if failed:
                self.failures[fact] += 1
            self.changes[fact.layer] += 1

    def __contains__(self, fact: object) -> bool:
        return fact in self.claimed or (fact in self.failures and self.failures[fact] >= PARKED_AFTER)  # type: ignore[index]


def window_of(strategy: object) -> int:
    """How many cases of a strategy are in flight at once: one may ask for fewer than is usual."""
    return int(getattr(strategy, "window", WINDOW))


@cache
def strategies() -> Mapping[str, Callable[[Options], Strategy]]:
    """All strategies by name."""
    return Plugins(GROUP)


def make_strategy(name: str, options: Options) -> Strategy:
    """The strategy of a name; a strategy from outside is made in the same way."""
    if name not in strategies():
        raise UnknownName(f"expected one of {', '.join(sorted(strategies()))}; received strategy={name!r}")
    return strategies()[name](options)
