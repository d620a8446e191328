"""The tally of a campaign: every number that screens and summaries show, from events alone.

Its memory does not grow with the cases, but for one number for each distinct key of a finding.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from cometfuzz.campaign.events import ByRoute, CaseDone, Ended, Event, Notice, RouteResult, Started, Summary
from cometfuzz.campaign.kinds import Kinds
from cometfuzz.execution.executor import FATAL
from cometfuzz.oracles.finding import Finding

MINUTE_S = 60
STEP_S = 5
"""How much time one column of the speed curve stands for."""

MEDIAN_OF = 101
LATEST = 50

KINDS = {"raised": ("exception",), "died": ("signal", "exited", "memory"), "hung": ("timeout",)}
"""Failures by the statuses of outcomes; the rest is "other"."""

PUBLISHED = {"inputs": 0.697, "parameters": 0.502, "sequences": 0.390}
"""What the paper's six hours cover of its space (its table on the baselines): of the models that it generated."""

PUBLISHED_MODELS = 888
"""How many models that was."""


@dataclass
class Health:
    """How one route does. A run that fails before the route's own part, in a stage that it shares, is not reached."""

    runs: int = 0
    completed: int = 0
    not_reached: int = 0
    restarts: int = 0
    available: bool = True
    failures: Counter[str] = field(default_factory=Counter)
    recent_ms: deque[float] = field(default_factory=lambda: deque(maxlen=MEDIAN_OF))

    @property
    def failed(self) -> int:
        return self.failures.total()

    @property
    def median_ms(self) -> float | None:
        """Of the last completed runs."""
        return median(self.recent_ms) if self.recent_ms else None

    @property
    def failed_by_kind(self) -> dict[str, int]:
        """Failures in the words of a table's columns."""
        kinds = {kind: sum(self.failures[status] for status in statuses) for kind, statuses in KINDS.items()}
        return {**kinds, "other": self.failed - sum(kinds.values())}

    def take(self, result: RouteResult) -> None:
        self.available = result.status != "unavailable"
        if not self.available:
            return
        self.runs += 1
        self.restarts += result.status in FATAL
        if result.status == "completed":
            self.completed += 1
            self.recent_ms.append(1000 * result.wall_s)
        elif result.status == "not reached":
            self.not_reached += 1
        else:
            self.failures[result.status] += 1


@dataclass
class Count:
    """How many findings, and how many distinct keys among them."""

    distinct: int = 0
    total: int = 0


@dataclass(frozen=True)
class Sighting:
    """The first finding with its key; its evidence is dropped."""

    finding: Finding
    index: int
    elapsed_s: float


@dataclass(frozen=True)
class LastCase:
    """What the screen says of the newest case."""

    index: int
    operator: str
    nodes: int
    gained: Mapping[str, int]
    completed: int
    runs: int


class Tally:
    """Takes events and keeps the numbers. `known`: keys of findings that an earlier run has seen, which are not new."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.settings: Mapping[str, Any] = {}
        self.done = self.cases = 0
        self.began_s = self.elapsed_s = 0.0
        self.coverage: Summary = {}
        self.by_route: ByRoute = {}
        self.branches: Mapping[str, int] | None = None
        self.operators: Mapping[str, Mapping[str, float]] = {}
        self.routes: dict[str, Health] = {}
        self.symptoms: dict[str, Count] = {}
        self.data_kinds: dict[str, Count] = {}
        self.libraries: Counter[str] = Counter()
        self.not_counted: Counter[str] = Counter()
        self.latest: deque[Sighting] = deque(maxlen=LATEST)
        self.fresh: list[Sighting] = []
        self.notices: deque[str] = deque(maxlen=LATEST)
        self.last: LastCase | None = None
        self.ended: Ended | None = None
        self.kinds = Kinds()
        for key in known:
            self.kinds.know(key)
        self._by_second: deque[tuple[int, int]] = deque(maxlen=2 * MINUTE_S)

    def handle(self, event: Event) -> None:
        """Take an event; afterwards `fresh` are the sightings that it brought."""
        self.fresh = []
        match event:
            case Started():
                self._start(event)
            case CaseDone():
                self._take(event)
            case Notice():
                self.notices.append(event.text)
            case Ended():
                self.ended, self.coverage = event, event.coverage
                self.by_route = event.by_route or self.by_route
                self.done, self.elapsed_s = event.done, event.elapsed_s

    def _start(self, event: Started) -> None:
        self.settings, self.done, self.coverage = event.settings, event.done, event.coverage
        self.began_s = self.elapsed_s = event.elapsed_s
        for name in event.settings.get("routes", ()):
            self.routes.setdefault(name, Health())

    def _take(self, event: CaseDone) -> None:
        self.cases, self.done, self.elapsed_s = self.cases + 1, self.done + 1, event.elapsed_s
        self.coverage, self.operators = event.coverage, event.operators
        self.branches = self.branches if event.branches is None else event.branches
        self.by_route = event.by_route or self.by_route
        results = [result for part in event.parts for result in part.results]
        for result in results:
            self.routes.setdefault(result.route, Health()).take(result)
        for part in event.parts:
            for finding in part.findings:
                self._count(finding, event)
        completed = sum(result.status == "completed" for result in results)
        self.last = LastCase(event.index, event.operator, event.nodes, event.gained, completed, len(results))
        second = int(event.elapsed_s)
        earlier = self._by_second.pop()[1] if self._by_second and self._by_second[-1][0] == second else 0
        self._by_second.append((second, earlier + 1))

    def _count(self, finding: Finding, event: CaseDone) -> None:
        if not finding.counts:
            self.not_counted["known defect" if finding.defect else finding.symptom] += 1
            return
        new = self.kinds.take(finding.key, event.elapsed_s)
        for counts, name in ((self.symptoms, finding.symptom), (self.data_kinds, finding.data_kind)):
            count = counts.setdefault(name, Count())
            count.total += 1
            count.distinct += new
        if new:
            self.libraries[finding.library] += 1
            sighting = Sighting(replace(finding, evidence={}), event.index, event.elapsed_s)
            self.latest.append(sighting)
            self.fresh.append(sighting)

    @property
    def distinct(self) -> int:
        """How many keys are new in this run."""
        return sum(count.distinct for count in self.symptoms.values())

    @property
    def found(self) -> int:
        """How many findings count."""
        return sum(count.total for count in self.symptoms.values())

    def outlook(self, now_s: float) -> str:
        """What the last ten minutes brought, and how many kinds of findings may be left."""
        estimate = self.kinds.estimate()
        if estimate is None:
            return ""
        left = f"about {estimate.left:.0f} kinds left, give or take {estimate.error:.0f}"
        return f"{self.kinds.lately(now_s)} new in the last 10 min, {left}"

    def rate(self) -> float:
        """Cases per second of this run."""
        return self.cases / max(self.elapsed_s - self.began_s, 1.0)

    def recent_rate(self, now_s: float) -> float:
        """Cases per second in the minute before `now_s`."""
        first = int(max(now_s - MINUTE_S, self.began_s))
        return sum(count for second, count in self._by_second if second >= first) / max(now_s - first, 1.0)

    def speeds(self, now_s: float) -> list[float]:
        """Cases per second in the last minute's steps of five seconds, the newest last."""
        end = int(now_s) // STEP_S * STEP_S
        sums = [0] * (MINUTE_S // STEP_S)
        for second, count in self._by_second:
            if end - MINUTE_S <= second < end:
                sums[(second - end) // STEP_S] += count
        return [total / STEP_S for total in sums]

    def progress(self, now_s: float) -> float | None:
        """How much of the nearest limit is used up, from 0 to 1; None without a limit."""
        minutes, cases = self.settings.get("minutes"), self.settings.get("cases")
        shares = [now_s / (60 * minutes)] if minutes else []
        shares += [self.done / cases] if cases else []
        return min(1.0, max(shares)) if shares else None

    def left_s(self, now_s: float) -> float | None:
        """The time to the nearest limit, as far as the speed tells; None if nobody knows."""
        minutes, cases = self.settings.get("minutes"), self.settings.get("cases")
        times = [60 * minutes - now_s] if minutes else []
        times += [(cases - self.done) / self.rate()] if cases and self.cases else []
        return max(0.0, min(times)) if times else None


def share_of(spaces: Summary, space: str = "full") -> float | None:
    """How much of what can be reached in a space is covered, all criteria together; None if nobody counted."""
    counts = spaces.get(space, {}).values()
    reachable = sum(each["reachable"] for each in counts)
    return sum(each["covered"] for each in counts) / reachable if reachable else None
