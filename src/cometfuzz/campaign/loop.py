"""The loop: strategy, executor, oracles and back, as a stream of events.

Exactly `window` cases are in flight when the next one is proposed, and feedback is given in order of index: the cases
are the same whatever the number of jobs. Execution goes on while a case is judged.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from cometfuzz.campaign.events import CaseDone, Ended, Event, Executed, Notice, RouteResult, Started, Summary
from cometfuzz.campaign.kinds import Kinds
from cometfuzz.campaign.leads import Leads
from cometfuzz.catalogue.manners import exchanged
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.branches import Branches
from cometfuzz.coverage.gain import summary_of
from cometfuzz.coverage.routes import RouteCoverage, Wanted
from cometfuzz.draw import Draw
from cometfuzz.execution.budget import Budget
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.policy import Assignment, assign, assign_breaking
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.sayable import knows_manners
from cometfuzz.execution.sides import CommonView, Sides
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ledger.matching import View
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.d_mad import d_mad, inconsistency, largest_magnitude, mean_magnitude
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.relations import SAMPLE
from cometfuzz.reference.nonfinite import GIVEN, SPECIAL, nonfinite_origins
from cometfuzz.search.manners import mannered
from cometfuzz.search.odd import oddly, side_by_side
from cometfuzz.search.refuse import beside
from cometfuzz.search.strategies import WINDOW, Feedback, Lead, Strategy

TWICE_ONE_IN = 20
"""How many cases there are for one that is run twice on its base routes, to see whether they are deterministic."""

MEMORY_ONE_IN = 20
"""How many cases there are for one that is run with other memory on all its routes, though nothing looks wrong."""

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


def of_base(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What Feedback says of the base routes; those that nobody tried, or that an earlier failure kept back, say
    nothing."""
    done = {outcome.route: outcome for outcome in outcomes if outcome.status == "completed"}
    idle = sum(outcome.status in ("not reached", "unavailable") for outcome in outcomes)
    return {
        "inconsistency": inconsistency(done) if done else None,
        "failed": bool(done) and len(done) + idle < len(outcomes),
        "magnitude": largest_magnitude(done),
    }


@dataclass
class _Flight:
    index: int
    case: Case
    operator: str
    futures: Sequence[Future[Trial]]


@dataclass
class Campaign:
    """One campaign. To go on with an earlier one: how many cases are done, and those `waiting` to be learned of.

    sides: what is compared, if that is what it is for; the policy speaks of the new side, and both get the same.
    """

    strategy: Strategy
    executor: Executor
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
        began = time.monotonic()
        yield Started(self.settings, self.done, self._coverage(), self.spent_s)
        flying: deque[_Flight] = deque()
        self._next = self.done
        waiting = deque(self.waiting)
        reason = ""
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
                else:
                    yield done
                    reason = "quiet" if self.bounds.none and self._is_quiet(done) else ""
        usage = self.executor.usage
        spent = (usage.own_cpu_s, usage.library_cpu_s)
        yield Ended(reason, self.done, self._elapsed(began), self._coverage(), *spent, self.ran.summary())

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
            assignments = [assign_breaking(view, ready.case)]
        else:
            assignments = assign(self.policy, view, ready.case, self._next, self.seed, ready.wanted)
            changed = [self._otherwise(oddly, assignments), self._otherwise(side_by_side, assignments)]
            changed.append(self._mannered(assignments))
            assignments += [each for made in changed for each in made]
        if extra is not None and assignments:
            assignments.append(assign_breaking(view, extra))
        futures = [self.executor.submit(part.case, self._beside(part.routes)) for part in assignments if part.routes]
        self._next += 1
        return _Flight(self._next - 1, ready.case, ready.operator, futures)

    @cached_property
    def _guide(self) -> View:
        """What is known of the routes that the policy speaks of, as far as it keeps cases away from them."""
        return self.executor.view if self.sides is None else CommonView(self.executor.view, self.sides)

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
        """Judge a case, and let the strategy learn of it."""
        benches = [self._bench(number, future.result(), flight.index) for number, future in enumerate(flight.futures)]
        parts = [_executed(number, bench) for number, bench in enumerate(benches)]
        feedback = self._feedback(benches, self.leads.of(parts))
        before = self._coverage()
        for bench in benches:
            statuses = {outcome.route: outcome.status for outcome in bench.trial.outcomes.values()}
            learn_of_routes(self.ran, self.budget, bench.trial.case, statuses)
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
        )

    def _bench(self, number: int, trial: Trial, index: int) -> Bench:
        again = None
        base = [name for name in self.policy.base if name in trial.outcomes]
        if base and number == 0 and not trial.case.breaks and Draw(self.seed, "twice", index).chance(1 / TWICE_ONE_IN):
            again = self.executor.run(trial.case, self._beside(base))
        memory = Draw(self.seed, "memory", index).chance(1 / MEMORY_ONE_IN)
        return Bench(
            trial, self.executor.run, again, self.executor.view, thorough=False, memory=memory, relations=SAMPLE
        )

    def _feedback(self, benches: Sequence[Bench], leads: tuple[Lead, ...]) -> Feedback:
        benches = [bench for bench in benches if not bench.trial.case.breaks]
        executed = bool(benches) and any(name != REFERENCE.name for name in benches[0].completed)
        reasons = nonfinite_origins(benches[0].graph, benches[0].reference).values() if executed else ()
        found = any(news.branch_count for bench in benches for news in bench.trial.branches.values())
        tried = benches[0].trial.outcomes if benches else {}
        base = [tried[name] for name in (*self.policy.base, *self.policy.only) if name in tried]
        return Feedback(
            executed=executed,
            new_branches=found if self.branches is not None else None,
            nonfinite=any(reason not in (GIVEN, SPECIAL) for reason in reasons),
            leads=leads,
            **of_base(base),
        )

    def _coverage(self) -> Summary:
        return summary_of(self.strategy.coverages)

    def _elapsed(self, began: float) -> float:
        return self.spent_s + time.monotonic() - began


def _executed(number: int, bench: Bench) -> Executed:
    return Executed(
        part=number,
        case=bench.trial.case,
        case_id=case_id(bench.trial.case),
        results=[_result(outcome) for outcome in bench.trial.outcomes.values()],
        d_mad=None if bench.trial.case.breaks else d_mad(bench.completed),
        findings=tuple(examine(bench)),
    )


def _covered(coverage: Summary, space: str) -> int:
    return sum(counts["covered"] for counts in coverage[space].values())


def _result(outcome: Outcome) -> RouteResult:
    return RouteResult(
        route=outcome.route,
        status=outcome.status,
        stage=outcome.stage,
        library=outcome.library,
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        detail="" if outcome.status == "completed" else str(outcome),
        failure=asdict(outcome.failure) if outcome.failure is not None else None,
        versions=outcome.versions,
        mean_magnitude=mean_magnitude(outcome.outputs) if outcome.status == "completed" else None,
        times=outcome.times,
    )
