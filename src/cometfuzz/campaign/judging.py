"""What becomes of a part of a case: it runs on its routes and is judged, here or where a cluster has its nodes.

The loop asks for parts and learns of them in order of index; who runs and judges them is a `JudgingExecutor`.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from cometfuzz.campaign.events import RouteResult
from cometfuzz.execution.executor import Executor, Usage
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.ir.case import Case
from cometfuzz.ledger.matching import View
from cometfuzz.oracles.bench import Bench, Rerun
from cometfuzz.oracles.d_mad import d_mad, inconsistency, largest_magnitude, mean_magnitude
from cometfuzz.oracles.determinism import Fingerprint, between_nodes, fingerprint_of
from cometfuzz.oracles.finding import Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.oracles.relations import SAMPLE
from cometfuzz.reference.nonfinite import GIVEN, SPECIAL, nonfinite_origins
from cometfuzz.routes import Route


@dataclass(frozen=True)
class Part:
    """A part of a case, with all that is to be done with it.

    twice: the routes on which it runs once more, to see whether they are deterministic. memory: whether all of them run
    with other memory. leading: whether it is what the strategy learns of; base: the routes that it is told of there.
    elsewhere: whether a second node, if there is one of the same kind, runs it too.
    """

    case: Case
    routes: tuple[str, ...]
    twice: tuple[str, ...] = ()
    memory: bool = False
    leading: bool = False
    elsewhere: bool = False
    base: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What became of a part: all that is kept of it, and what the strategy is told.

    executed: on some library. nonfinite: whether NaN or Inf came of ordinary numbers; asked of the leading part only.
    new_branches: whether it reached some. inconsistency, failed, magnitude: as in Feedback, of the leading part's base
    routes. On a cluster, fingerprints: how each route ended, with a digest of each
    of its outputs; node: where it ran. mistakes: oracles that failed over it, in plain words.
    """

    results: tuple[RouteResult, ...]
    findings: tuple[Finding, ...]
    d_mad: float | None
    executed: bool
    nonfinite: bool
    new_branches: bool
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    node: str = ""
    inconsistency: float | None = None
    failed: bool = False
    magnitude: float | None = None
    mistakes: tuple[str, ...] = ()


class JudgingExecutor(Protocol):
    """Runs parts beside each other, and judges them. Its routes and what is known of them guide the search."""

    @property
    def routes(self) -> Mapping[str, Route]:
        """By name."""

    @property
    def usage(self) -> Usage:
        """CPU seconds, here and wherever it runs."""

    @property
    def view(self) -> View:
        """What is known of the libraries that the routes meet."""

    @property
    def news(self) -> Mapping[str, Mapping[str, Any]]:
        """The nodes of a cluster by name, if they are others than when this was asked last; else nothing."""

    def submit(self, part: Part) -> Future[Any]:
        """Begin with a part. Whoever waits for it gets a CancelledError if all was given up meanwhile."""

    def judged(self, part: Part, begun: Future[Any]) -> Judged:
        """What became of it; waits for that."""


class Here:
    """The workers of this machine run the parts, and who has run one judges it: other parts go on meanwhile."""

    def __init__(self, executor: Executor) -> None:
        self._executor, self.routes = executor, executor.routes

    @property
    def news(self) -> Mapping[str, Mapping[str, Any]]:
        return {}

    @property
    def usage(self) -> Usage:
        return self._executor.usage

    @property
    def view(self) -> View:
        return self._executor.view

    def submit(self, part: Part) -> Future[Judged]:
        return self._executor.begin(lambda: self._judge(part))

    def _judge(self, part: Part) -> Judged:
        trial = self._executor.run(part.case, part.routes)
        return judge(part, trial, self._executor.run, self.view)

    def judged(self, part: Part, begun: Future[Judged]) -> Judged:
        return begun.result()


def judge(part: Part, trial: Trial, rerun: Rerun, view: View) -> Judged:
    """All that the oracles have to say of a trial, and what the campaign keeps of it."""
    again = rerun(part.case, part.twice) if part.twice else None
    bench = Bench(trial, rerun, again, view, thorough=False, memory=part.memory, relations=SAMPLE)
    mistakes = list[str]()
    findings = tuple(examine(bench, mistakes.append))
    executed = any(name != REFERENCE.name for name in bench.completed)
    reasons = nonfinite_origins(bench.graph, bench.reference).values() if part.leading and executed else ()
    return Judged(
        results=tuple(_result(outcome) for outcome in trial.outcomes.values()),
        findings=findings,
        d_mad=None if part.case.breaks else d_mad(bench.completed),
        executed=executed,
        nonfinite=any(reason not in (GIVEN, SPECIAL) for reason in reasons),
        new_branches=any(news.branch_count for news in trial.branches.values()),
        mistakes=tuple(mistakes),
        **(of_base([trial.outcomes[name] for name in part.base if name in trial.outcomes]) if part.leading else {}),
    )


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


def judge_again(
    trial: Trial, rerun: Rerun, view: View, first: Mapping[str, Fingerprint], one: str, two: str
) -> tuple[Finding, ...]:
    """What node `two` finds, which has run what node `one` of the same kind ran first."""
    bench = Bench(trial, rerun, None, view, thorough=False)
    return tuple(between_nodes(bench, first, one, two))


def fingerprints(trial: Trial) -> dict[str, Fingerprint]:
    """How each route ended, as two nodes compare it."""
    return {outcome.route: fingerprint_of(outcome) for outcome in trial.outcomes.values()}


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
