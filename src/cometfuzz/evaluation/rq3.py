"""RQ3: does the search gain from synthesised seeds? The same search from synthesised seeds and from the originals.

Each case is proposed, drawn, built and run on Keras with TensorFlow in a child process, a case for Keras 2 on tf-keras;
its seconds are the CPU time of all that, in the parent and in the child. Coverage counts cases that executed, in the
paper's space. The start of a child, which happens once for hundreds of cases, is left out.

At equal cases both arms have made as many. At equal time, the arm that took longer is looked at when it had spent what
the other one spent in all.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import CRITERIA, paper_space
from cometfuzz.errors import WorkerFailure, looked_at
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.worker import START
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.baselines.baseline import LIFTED
from cometfuzz.search.strategies import WINDOW, Feedback, Options, make_strategy
from cometfuzz.seeds import published

MODERN_ROUTE, LEGACY_ROUTE = "keras-tf", "keras2-tf"
WORKER = WorkerLimits(stage_s=300.0)


PAPER: Mapping[str, Mapping[str, Any]] = {
    "original": {"models": 568, "cpu_s_per_model": 38.10, "coverage": (0.586, 0.390, 0.253)},
    "synthesised": {"models": 888, "cpu_s_per_model": 24.35, "coverage": (0.697, 0.502, 0.390)},
}
"""Six hours each on an i9 with three GPUs; its seconds are of the clock."""


@dataclass(frozen=True)
class Execution:
    """Whether a case ran to its end, and the CPU seconds that took in the library's process."""

    completed: bool
    cpu_s: float


class Runner(Protocol):
    """Runs cases on a library."""

    def execute(self, case: Case) -> Execution: ...


class KerasOnTensorFlow:
    """A Runner: Keras 3 on TensorFlow, and tf-keras for cases that only Keras 2 can run."""

    def __init__(self) -> None:
        self._executor = Executor([ROUTES[name] for name in (MODERN_ROUTE, LEGACY_ROUTE)], limits=WORKER)

    def __enter__(self) -> "KerasOnTensorFlow":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._executor.close()

    def execute(self, case: Case) -> Execution:
        route = MODERN_ROUTE if usual_dialects().of(case.graph) is usual_dialects().modern else LEGACY_ROUTE
        outcome = self._executor.run(case, [route]).outcomes[route]
        if outcome.status == "unavailable":
            raise WorkerFailure(f"route {route}: {outcome.detail}; {looked_at(route)}")
        measured = outcome.status in ("completed", "exception")  # a dead child tells no CPU time
        stages = [stage for stage in outcome.times if stage.stage != START]
        return Execution(
            outcome.status == "completed", sum(stage.cpu_s if measured else stage.wall_s for stage in stages)
        )


@dataclass(frozen=True)
class Moment:
    """What an arm had after so many cases."""

    models: int
    executed: int
    cpu_s: float
    library_s: float
    covered: Mapping[str, int]


@dataclass
class Arm:
    """One search, from one set of seeds; `step` makes and runs its next case."""

    name: str
    seeds: Sequence[Graph]
    limits: ModelLimits
    seed: int
    runner: Runner
    trace: list[Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._strategy = make_strategy("comet", Options(self.seed, self.seeds, self.limits))
        self._coverage = Coverage(paper_space())
        self._flying: deque[tuple[Case, Feedback]] = deque()

    def step(self) -> None:
        began = time.process_time()
        if len(self._flying) == WINDOW:
            self._strategy.learn(*self._flying.popleft())
        case = self._strategy.propose()
        execution = self.runner.execute(case)
        self._flying.append((case, Feedback(executed=execution.completed)))
        if execution.completed:
            self._coverage.cover(case.graph)
        spent = time.process_time() - began + execution.cpu_s
        last = self.trace[-1] if self.trace else Moment(0, 0, 0.0, 0.0, {})
        self.trace.append(
            Moment(
                models=last.models + 1,
                executed=last.executed + execution.completed,
                cpu_s=last.cpu_s + spent,
                library_s=last.library_s + execution.cpu_s,
                covered={criterion: self._coverage.covered(criterion) for criterion in CRITERIA},
            )
        )


def arms(seed: int, runners: Sequence[Runner]) -> list[Arm]:
    """The two arms: from the originals, without size bounds, and from the synthesised seeds."""
    originals = [published.original(name) for name in published.names()]
    synthesised = [published.synthesised(name) for name in published.names()]
    return [
        Arm("original", originals, LIFTED, seed, runners[0]),
        Arm("synthesised", synthesised, ModelLimits(), seed, runners[1]),
    ]


def run(both: Sequence[Arm], cases: int, done: Callable[[Sequence[Arm]], None]) -> bool:
    """Let the arms make their cases in turn, so that they have equally many at any time. True if interrupted."""
    try:
        for _ in range(cases):
            for arm in both:
                arm.step()
                done(both)
    except KeyboardInterrupt:
        return True
    return False


def summarise(both: Sequence[Arm]) -> dict[str, Any]:
    """The form of `cometfuzz evaluate rq3 --json`."""
    cases = min(len(arm.trace) for arm in both)
    cpu_s = min((arm.trace[cases - 1].cpu_s if cases else 0.0) for arm in both)
    return {
        "cases": cases,
        "seed": both[0].seed,
        "equal_cases": {arm.name: _plain(arm.trace[cases - 1]) for arm in both} if cases else {},
        "equal_time": {"cpu_s": round(cpu_s, 1), **{arm.name: _plain(_at(arm.trace, cpu_s)) for arm in both}},
        "paper": {
            name: {**row, "coverage": dict(zip(CRITERIA, row["coverage"], strict=True))} for name, row in PAPER.items()
        },
    }


def _at(trace: Sequence[Moment], cpu_s: float) -> Moment:
    """The last moment within a time."""
    nothing = Moment(0, 0, 0.0, 0.0, dict.fromkeys(CRITERIA, 0))
    return max((moment for moment in trace if moment.cpu_s <= cpu_s), key=lambda moment: moment.models, default=nothing)


def _plain(moment: Moment) -> dict[str, Any]:
    space = paper_space()
    return {
        "models": moment.models,
        "executed": moment.executed,
        "cpu_s": round(moment.cpu_s, 1),
        "library_cpu_s": round(moment.library_s, 1),
        "cpu_s_per_model": round(moment.cpu_s / max(1, moment.models), 2),
        "coverage": {criterion: round(moment.covered[criterion] / space.total(criterion), 4) for criterion in CRITERIA},
    }
