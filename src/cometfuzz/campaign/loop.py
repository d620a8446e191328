"""The loop: strategy, executor, oracles and back, as a stream of events.

Exactly `window` cases are in flight when the next one is proposed, and feedback is given in order of index: the cases
are the same whatever the number of jobs. Cases are run and judged beside each other.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cometfuzz.campaign.events import CaseDone, Ended, Event, Executed, Notice, Started, Summary
from cometfuzz.campaign.judging import Here, Judged, JudgingExecutor, Part
from cometfuzz.campaign.kinds import Kinds
from cometfuzz.campaign.leads import Leads
from cometfuzz.catalogue.manners import exchanged
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.branches import Branches
from cometfuzz.coverage.gain import summary_of
from cometfuzz.coverage.routes import RouteCoverage, Wanted
from cometfuzz.draw import Draw
from cometfuzz.errors import ClusterLost
from cometfuzz.execution.budget import Budget
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.policy import Assignment, assign, assign_breaking
from cometfuzz.execution.sayable import generation_of, knows_manners
from cometfuzz.execution.sides import CommonView, Sides
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ledger.matching import View
from cometfuzz.search.manners import mannered
from cometfuzz.search.odd import oddly, side_by_side
from cometfuzz.search.refuse import beside
from cometfuzz.search.strategies import WINDOW, Feedback, Lead, Strategy

TWICE_ONE_IN = 20
"""How many cases there are for one that is run twice on its base routes, to see whether they are deterministic."""

MEMORY_ONE_IN = 20
"""How many cases there are for one that is run with other memory on all its routes, though nothing looks wrong."""

ELSEWHERE_ONE_IN = 50
"""How many cases there are for one that a second node of the same kind runs too, to see whether they differ."""

SUMMARISED_ONE_IN = 10
"""How many cases there are for one that says what was covered on each route: it is a long list."""

_POLL_S = 0.2


@dataclass(frozen=True)
class Bounds:
    """When a campaign ends: after so many cases or minutes, whichever comes first; None for no such bound.

    With neither, it ends when nothing new comes any more (`kinds.Kinds.is_quiet`).
    """

    cases: int | None = None
    minutes: float | None = None

    @property
    def none(self) -> bool:
        return self.cases is None and self.minutes is None


@dataclass(frozen=True)
class Proposed:
    """A case, how it was made, and which of its nodes covered something new on which dear route at the moment when it
    was proposed; on the route that it is made for, all of them count as new."""

    case: Case
    operator: str
    wanted: Wanted


def proposed_by(strategy: Strategy, case: Case, ran: RouteCoverage, budget: Budget) -> Proposed:
    """What there is to know of a case which a strategy has just proposed."""
    wanted = {} if case.breaks else dict(ran.wanted(case, budget.behind))
    aim = getattr(strategy, "last_aim", "")
    if aim in budget.behind:
        wanted[aim] = {node.id: 0 for node in case.graph.nodes if CATALOGUE[node.layer].counted}
    return Proposed(case, getattr(strategy, "last_operator", ""), wanted)


def learn_of_routes(ran: RouteCoverage, budget: Budget, case: Case, statuses: Mapping[str, str]) -> None:
    """Count what a case, or a part of one, has covered on its routes, and what it cost.

    What fails in another manner may work in the plain one: that is no failure of its items.
    """
    budget.charge(statuses)
    if case.breaks:
        return
    done = {route: status == "completed" for route, status in statuses.items() if status != "unavailable"}
    ran.learn(case, {route: completed for route, completed in done.items() if completed or case.manner == PLAIN})


@dataclass
class _Flight:
    index: int
    case: Case
    operator: str
    parts: Sequence[Part]
    futures: Sequence[Future[Any]]


@dataclass
class Campaign:
    """One campaign. To go on with an earlier one: how many cases are done, and those `waiting` to be learned of.

    sides: what is compared, if that is what it is for; the policy speaks of the new side, and both get the same.
    """

    strategy: Strategy
    executor: Executor | JudgingExecutor
    policy: PolicyConfig
    seed: int
    bounds: Bounds
    settings: Mapping[str, Any]
    window: int = WINDOW
    done: int = 0
    spent_s: float = 0.0
    waiting: Sequence[Proposed] = ()
    branches: Branches | None = None
    ran: RouteCoverage = field(default_factory=lambda: RouteCoverage({}))
    budget: Budget = field(default_factory=lambda: Budget(PolicyConfig(), {}))
    sides: Sides | None = None
    leads: Leads = field(default_factory=Leads)
    stop: threading.Event = field(default_factory=threading.Event)
    _notices: deque[str] = field(default_factory=deque)
    _kinds: Kinds = field(default_factory=Kinds)

    def notice(self, text: str) -> None:
        """Say something from any thread."""
        self._notices.append(text)

    def events(self) -> Iterator[Event]:
        """Run until a bound is reached or `stop` is set; what is under way then is given up, not lost: it is proposed
        again when the campaign goes on."""
        began, own_began_s = time.monotonic(), time.thread_time()
        yield Started(self.settings, self.done, self._coverage(), self.spent_s)
        flying: deque[_Flight] = deque()
        self._next = self.done
        waiting = deque(self.waiting)
        reason, lost = "", None
        while not reason:
            while len(flying) < self.window and (self.bounds.cases is None or self._next < self.bounds.cases):
                flying.append(self._submit(waiting.popleft() if waiting else self._propose()))
            if not flying:
                reason = "cases"
                break
            reason = self._await(flying[0], began)
            while self._notices:
                yield Notice(self._notices.popleft())
            if not reason:
                try:
                    done = self._finish(flying.popleft(), began)
                except CancelledError:
                    if not self.stop.is_set():
                        raise
                    reason = "interrupted"
                except ClusterLost as error:
                    reason, lost = "lost", error
                else:
                    yield done
                    reason = "quiet" if self.bounds.none and self._is_quiet(done) else ""
        usage = self._judging.usage
        spent = (usage.own_cpu_s + time.thread_time() - own_began_s, usage.library_cpu_s)
        yield Ended(reason, self.done, self._elapsed(began), self._coverage(), *spent, self.ran.summary())
        if lost is not None:
            raise lost

    def _is_quiet(self, done: CaseDone) -> bool:
        for part in done.parts:
            for finding in part.findings:
                if finding.counts:
                    self._kinds.take(finding.key, done.elapsed_s - self.spent_s)
        return self._kinds.is_quiet(done.elapsed_s - self.spent_s)

    def _propose(self) -> Proposed:
        return proposed_by(self.strategy, self.strategy.propose(), self.ran, self.budget)

    def _submit(self, ready: Proposed) -> _Flight:
        view, extra = self._guide, beside(self.seed, self._next, ready.operator)
        if ready.case.breaks:
            assignments = [assign_breaking(view, ready.case, self._usual)]
        else:
            assignments = assign(self.policy, view, ready.case, self._next, self.seed, ready.wanted)
            changed = [self._otherwise(oddly, assignments), self._otherwise(side_by_side, assignments)]
            changed.append(self._mannered(assignments))
            assignments += [each for made in changed for each in made]
        if extra is not None and assignments:
            assignments.append(assign_breaking(view, extra, self._usual))
        able = [each for each in assignments if each.routes]
        parts = [self._part(number, each) for number, each in enumerate(able)]
        futures = [self._judging.submit(part) for part in parts]
        self._next += 1
        return _Flight(self._next - 1, ready.case, ready.operator, parts, futures)

    def _part(self, number: int, each: Assignment) -> Part:
        """A part with all that the seed wants of it."""
        index, usual = self._next, not each.case.breaks
        routes = self._beside(each.routes)
        base = tuple(name for name in self.policy.base if name in routes) if usual and number == 0 else ()
        twice = bool(base) and Draw(self.seed, "twice", index).chance(1 / TWICE_ONE_IN)
        return Part(
            each.case,
            routes,
            twice=self._beside(base) if twice else (),
            memory=Draw(self.seed, "memory", index).chance(1 / MEMORY_ONE_IN),
            leading=usual and number == 0,
            base=tuple(name for name in (*self.policy.base, *self.policy.only) if name in routes) if usual else (),
            elsewhere=usual and number == 0 and Draw(self.seed, "elsewhere", index).chance(1 / ELSEWHERE_ONE_IN),
        )

    @cached_property
    def _judging(self) -> JudgingExecutor:
        return Here(self.executor) if isinstance(self.executor, Executor) else self.executor

    @cached_property
    def _guide(self) -> View:
        """What is known of the routes that the policy speaks of, as far as it keeps cases away from them."""
        return self.executor.view if self.sides is None else CommonView(self.executor.view, self.sides)

    @cached_property
    def _usual(self) -> str:
        """The generation of Keras on the base routes."""
        return generation_of(self.policy.base, self._guide.routes)

    def _beside(self, routes: Sequence[str]) -> tuple[str, ...]:
        """Some routes; in a comparison, those of the other side too."""
        return tuple(routes) if self.sides is None else self.sides.both(routes, self.executor.routes)

    def _otherwise(
        self, change: Callable[[int, int, Case], Case | None], assignments: Sequence[Assignment]
    ) -> list[Assignment]:
        """The same on odd numbers, if it is their turn; cuts of the case that dear routes get, too."""
        made = [(change(self.seed, self._next, each.case), each.routes) for each in assignments]
        return [Assignment(case, routes) for case, routes in made if case is not None]

    def _mannered(self, assignments: Sequence[Assignment]) -> list[Assignment]:
        """Some of the same in another manner, on the routes that know it; one with open sizes every other time at both
        its sizes."""
        routes, found = self.executor.view.routes, []
        for number, part in enumerate(assignments):
            draw = Draw(self.seed, "manner", self._next, number)
            plain = [name for name in part.routes if routes[name].switch is None]
            able = tuple(name for name in plain if knows_manners(routes[name], PLAIN))
            if not able or not draw.chance(1 / self.policy.manner_one_in):
                continue
            case = mannered(part.case, draw, exported=any(name in self.policy.converters for name in able))
            other = exchanged(case) if case is not None and case.manner.before and draw.chance(1 / 2) else None
            for each in (each for each in (case, other) if each is not None):
                knowing = tuple(name for name in able if knows_manners(routes[name], each.manner))
                found += [Assignment(each, knowing)] if knowing else []
        return found

    def _await(self, flight: _Flight, began: float) -> str:
        """Wait until a case is through; or the reason why the campaign ends before that."""
        while True:
            if self.stop.is_set():
                return "interrupted"
            if self.bounds.minutes is not None and self._elapsed(began) > 60 * self.bounds.minutes:
                return "minutes"
            if not wait(flight.futures, _POLL_S).not_done:
                return ""

    def _finish(self, flight: _Flight, began: float) -> CaseDone:
        """Learn what became of a case."""
        begun = zip(flight.parts, flight.futures, strict=True)
        judged = [self._judging.judged(part, future) for part, future in begun]
        for asked, each in zip(flight.parts, judged, strict=True):
            for text in each.mistakes:
                self.notice(f"{text}; other oracles judge case {case_id(asked.case)}, which shows it")
        pairs = zip(flight.parts, judged, strict=True)
        parts = [_executed(number, *pair) for number, pair in enumerate(pairs)]
        feedback = self._feedback(flight.parts, judged, self.leads.of(parts))
        before = self._coverage()
        for part in parts:
            statuses = {result.route: result.status for result in part.results}
            learn_of_routes(self.ran, self.budget, part.case, statuses)
        self.strategy.learn(flight.case, feedback)
        coverage = self._coverage()
        self.done = flight.index + 1
        return CaseDone(
            index=flight.index,
            case_id=case_id(flight.case),
            operator=flight.operator,
            nodes=len(flight.case.graph.nodes),
            feedback=feedback.as_plain(),
            gained={name: _covered(coverage, name) - _covered(before, name) for name in coverage},
            parts=parts,
            coverage=coverage,
            by_route=self.ran.summary() if flight.index % SUMMARISED_ONE_IN == 0 else {},
            branches=None if self.branches is None else self.branches.branch_share._asdict(),
            operators=self.strategy.operators(),
            elapsed_s=self._elapsed(began),
            case=flight.case,
            cluster=self._judging.news,
        )

    def _feedback(self, parts: Sequence[Part], judged: Sequence[Judged], leads: tuple[Lead, ...]) -> Feedback:
        told = [each for part, each in zip(parts, judged, strict=True) if not part.case.breaks]
        lead = next((each for part, each in zip(parts, judged, strict=True) if part.leading), None)
        return Feedback(
            executed=lead is not None and lead.executed,
            new_branches=any(each.new_branches for each in told) if self.branches is not None else None,
            nonfinite=lead is not None and lead.nonfinite,
            leads=leads,
            inconsistency=None if lead is None else lead.inconsistency,
            failed=lead is not None and lead.failed,
            magnitude=None if lead is None else lead.magnitude,
        )

    def _coverage(self) -> Summary:
        return summary_of(self.strategy.coverages)

    def _elapsed(self, began: float) -> float:
        return self.spent_s + time.monotonic() - began


def _executed(number: int, part: Part, judged: Judged) -> Executed:
    return Executed(
        part=number,
        case=part.case,
        case_id=case_id(part.case),
        results=judged.results,
        d_mad=judged.d_mad,
        findings=judged.findings,
        node=judged.node,
        digests={name: each.digests for name, each in judged.fingerprints.items() if each.digests},
    )


def _covered(coverage: Summary, space: str) -> int:
    return sum(counts["covered"] for counts in coverage[space].values())
