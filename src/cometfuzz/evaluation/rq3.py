"""RQ3: does the search gain from synthesised seeds? The same search from synthesised seeds and from the originals.

Each case is proposed, drawn, built and run on Keras with TensorFlow in a child process, a case for Keras 2 on tf-keras;
its seconds are the CPU time of all that, in the parent and in the child. Nothing is judged. Coverage counts cases that
executed, in the paper's space; branches of Keras and TensorFlow are observed, and reward the search as in a campaign.
The start of a child, which happens once for hundreds of cases, is left out.

A run keeps what became of each case, so that it goes on where it was.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import msgspec

from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import CometfuzzError, InvalidCampaign, InvalidCoverage, WorkerFailure, looked_at
from cometfuzz.evaluation.arms import ORIGINALS, Arm
from cometfuzz.evaluation.running import MAX_BYTES, MOMENTS, Bounds, Moment, Run, Show, is_due, moment_of, totals_of
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.observation import Observation, obstacle
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.worker import START
from cometfuzz.ir.case import Case
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.places import Place
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.strategies import Feedback, window_of
from cometfuzz.seeds import published
from cometfuzz.synthesis.measure import measure, summarise

MODERN_ROUTE, LEGACY_ROUTE = "keras-tf", "keras2-tf"
WORKER = WorkerLimits(stage_s=300.0)
LOG, BRANCHES, SYNTHESIS = "cases.json", "branches.json", "synthesis.json"

ARMS = (Arm("synthesised", "comet"), Arm("originals", "comet", seeds=ORIGINALS))


@dataclass(frozen=True)
class Execution:
    """Whether a case ran to its end, the CPU seconds that took in the library's process, and whether it reached a
    branch that no case before it had (None: nobody looked)."""

    completed: bool
    cpu_s: float
    new_branches: bool | None = None


class Runner(Protocol):
    """Runs cases on a library; branches: what they have reached so far."""

    branches: Branches | None

    def execute(self, case: Case) -> Execution: ...


class KerasOnTensorFlow:
    """A Runner: Keras 3 on TensorFlow, and tf-keras for cases that only Keras 2 can run."""

    def __init__(self, branches: Branches | None = None) -> None:
        group = ROUTES[MODERN_ROUTE].steps[0].group
        self.branches = None if branches is None or obstacle(group) else branches
        observers = {} if self.branches is None else {group.name: Observation(self.branches)}
        routes = [ROUTES[name] for name in (MODERN_ROUTE, LEGACY_ROUTE)]
        self._executor = Executor(routes, limits=WORKER, observers=observers)

    def __enter__(self) -> "KerasOnTensorFlow":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._executor.close()

    def execute(self, case: Case) -> Execution:
        route = MODERN_ROUTE if usual_dialects().of(case.graph) is usual_dialects().modern else LEGACY_ROUTE
        trial = self._executor.run(case, [route])
        outcome = trial.outcomes[route]
        if outcome.status == "unavailable":
            raise WorkerFailure(f"route {route}: {outcome.detail}; {looked_at(route)}")
        measured = outcome.status in ("completed", "exception")  # a dead child tells no CPU time
        stages = [stage for stage in outcome.times if stage.stage != START]
        spent = sum(stage.cpu_s if measured else stage.wall_s for stage in stages)
        new = any(news.branch_count for news in trial.branches.values()) if self.branches is not None else None
        return Execution(outcome.status == "completed", spent, new)


class Logged(msgspec.Struct, frozen=True, array_like=True):
    """What became of a case, as a run keeps it; spent: CPU seconds of all cases up to it, and those of libraries."""

    executed: bool
    new_branches: bool | None
    nodes: int
    spent: tuple[float, float]


@dataclass
class Search:
    """A run under way: its strategy, and what became of its cases."""

    run: Run
    log: list[Logged] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.strategy = self.run.arm.made(self.run.seed)
        self.window = window_of(self.strategy)
        self._flying: deque[tuple[Case, Feedback]] = deque()

    def propose(self) -> Case:
        if len(self._flying) == self.window:
            self.strategy.learn(*self._flying.popleft())
        return self.strategy.propose()

    def note(self, case: Case, logged: Logged) -> None:
        self.log.append(logged)
        self._flying.append((case, Feedback(logged.executed, logged.new_branches)))

    def replay(self, log: Sequence[Logged]) -> None:
        """Come to where a run was; no library runs."""
        for logged in log:
            self.note(self.propose(), logged)

    def land(self) -> None:
        """Learn of the cases that are in flight, at the end of the run."""
        while self._flying:
            self.strategy.learn(*self._flying.popleft())

    def moment(self, branches: Branches | None) -> Moment:
        found = {}
        if branches is not None:
            found = {"branches": branches.branch_share.covered, "lines": branches.line_share.covered}
        executed, nodes = sum(each.executed for each in self.log), sum(each.nodes for each in self.log)
        return moment_of(self.strategy, len(self.log), executed, self.log[-1].spent, nodes, found)


def carry_out(run: Run, bounds: Bounds, make: Callable[[Branches], Any], show: Show) -> None:
    """Make, or go on with, a run until a bound is reached; `make` gives a context manager that gives a Runner.
    KeyboardInterrupt saves."""
    log, branches = stored_log(run), stored_branches(run)
    search = Search(run)
    search.replay(log)
    run.moments = [moment for moment in run.moments if moment.cases <= len(log)]
    every = max(1, bounds.cases // MOMENTS)
    with make(branches) as runner:
        try:
            while not search.log or not _is_over(search.log, bounds):
                _step(search, runner)
                if is_due(len(search.log), every) or _is_over(search.log, bounds):
                    _save(search, runner, show)
        except KeyboardInterrupt:
            if search.log:
                _save(search, runner, show)
            raise
        search.land()
        _save(search, runner, show)


def _step(search: Search, runner: Runner) -> None:
    began = time.process_time()
    case = search.propose()
    execution = runner.execute(case)
    own = time.process_time() - began
    before = search.log[-1].spent if search.log else (0.0, 0.0)
    spent = before[0] + own + execution.cpu_s, before[1] + execution.cpu_s
    search.note(case, Logged(execution.completed, execution.new_branches, len(case.graph.nodes), spent))


def _is_over(log: Sequence[Logged], bounds: Bounds) -> bool:
    return len(log) >= bounds.cases or (bounds.cpu_s is not None and log[-1].spent[0] >= bounds.cpu_s)


def _save(search: Search, runner: Runner, show: Show) -> None:
    run = search.run
    moment = search.moment(runner.branches)
    run.moments = [*(each for each in run.moments if each.cases < moment.cases), moment]
    run.totals = totals_of(search.strategy)
    place = Place(run.folder)
    if runner.branches is not None:
        share, lines = runner.branches.branch_share, runner.branches.line_share
        run.totals = {**run.totals, "branches": share.total, "lines": lines.total}
        place.write(BRANCHES, json.dumps(runner.branches.to_plain()).encode())
    place.write(LOG, msgspec.json.encode(search.log))
    run.save()
    show(run, moment)


def stored_log(run: Run) -> list[Logged]:
    """What became of the cases of a run that has begun."""
    place = Place(run.folder)
    try:
        return msgspec.json.decode(place.read(LOG, MAX_BYTES), type=list[Logged]) if place.kind(LOG) else []
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidCampaign(f"{run.folder / LOG}: expected the cases of a run; received {error}") from None


def stored_branches(run: Run) -> Branches:
    place = Place(run.folder)
    try:
        plain = json.loads(place.read(BRANCHES, 4 * MAX_BYTES)) if place.kind(BRANCHES) else {}
        return Branches.from_plain(plain)
    except (ValueError, RecursionError, InvalidCoverage) as error:
        raise InvalidCampaign(f"{run.folder / BRANCHES}: expected branches; received {error}") from None


def synthesis(out: Path, runs: int, done: Callable[[str], None]) -> dict[str, Any]:
    """The paper's table of synthesised seeds, and the CPU seconds of each synthesis by model; made once and kept."""
    place = Place(out)
    if place.kind(SYNTHESIS):
        stored = _stored_synthesis(place)
        if stored["summary"]["total"]["runs"] >= runs:
            return stored
    originals = {name: published.original(name) for name in published.names()}
    timed = measure(originals, 1, runs, done)
    seconds = {name: [round(each.cpu_s, 3) for each in found] for name, found in timed.items()}
    made = {"summary": summarise(originals, timed), "seconds": seconds}
    place.write(SYNTHESIS, json.dumps(made).encode())
    return made


def _stored_synthesis(place: Place) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(place.read(SYNTHESIS, MAX_BYTES))
        msgspec.convert(found["seconds"], dict[str, list[float]])
        msgspec.convert(found["summary"]["total"]["runs"], int)
        list(size_rows(found))
    except (ValueError, LookupError, TypeError, RecursionError, CometfuzzError) as error:
        raise InvalidCampaign(f"{place.path(SYNTHESIS)}: expected a synthesis; received {error!r:.200}") from None
    return found


SIZES = ("layers", "weights", "inputs", "parameters", "sequences")


def size_grid(made: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The paper's table of all ten models together: originals, synthesised ones, and what it published of both."""
    return ["", *SIZES, "CPU s a model, at most"], list(size_rows(made))


def size_rows(made: Mapping[str, Any]) -> Iterator[list[str]]:
    total = made["summary"]["total"]
    theirs = total["paper"]
    slowest = f"{max(max(each) for each in made['seconds'].values()):.1f}"
    yield ["originals", *(f"{total['original'][name]:,}" for name in SIZES), ""]
    original = theirs["original"]
    weights = f"{original['weights_millions']} M"
    yield ["originals, published", str(original["layers"]), weights, *(str(original[name]) for name in SIZES[2:]), ""]
    spread = total["spread"]
    yield [
        f"synthesised, {total['runs']} runs",
        *(f"{total[name]:,.1f} ± {spread[name]:,.1f}" for name in SIZES),
        slowest,
    ]
    rows = theirs["synthesised"]
    yield [
        "synthesised, published, 20 runs",
        *(f"{rows[name]['mean']:,.1f} ± {rows[name]['spread']:,.1f}" for name in SIZES),
        "240 (of the clock, on a GPU; most under 20)",
    ]
