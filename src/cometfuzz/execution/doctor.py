"""What can be used here: every route is tried on a tiny model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import EnvironmentFailure, WorkerFailure
from cometfuzz.execution import environments
from cometfuzz.execution.executor import Executor, fix, python_of
from cometfuzz.execution.interpreters import OLDEST, Own, examine_own
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.versions import installed
from cometfuzz.execution.worker import START
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.routes import Group, Route


@dataclass(frozen=True)
class Health:
    """One route: whether it works, else why not and what would mend it; seconds to start, memory of its workers.

    lacks: what is not to be had in the interpreters of the user's own that it runs in.
    """

    route: Route
    available: bool
    reason: str | None
    fix: str | None
    versions: dict[str, str]
    startup_s: float
    memory_mb: int
    lacks: tuple[str, ...] = ()


def tiny_case() -> Case:
    """A model that every library has."""
    drafts = [
        Draft("x", "input", {"dtype": "float32", "shape": (2, 3)}, ()),
        Draft("dense", "Dense", {"units": 2}, (Edge("x"),)),
        Draft("relu", "ReLU", {}, (Edge("dense"),)),
    ]
    return Case(assemble(drafts, [Edge("relu")]), 1)


def examine(
    routes: Sequence[Route],
    report: Callable[[Health], None] = lambda health: None,
    find_python: Callable[[Group], Path] = python_of,
) -> list[Health]:
    """Try the routes, those of different beginnings beside each other."""
    found: dict[str, Health] = {}
    with Executor(routes, find_python=find_python) as executor:
        together: dict[str, list[Route]] = {}
        for route in routes:
            together.setdefault(route.steps[0].group.name, []).append(route)
        futures = [(part, executor.submit(tiny_case(), [route.name for route in part])) for part in together.values()]
        for part, future in futures:
            outcomes = future.result().outcomes
            memory = {worker.group.name: worker.resident_bytes for worker in executor.workers}
            for route in part:
                found[route.name] = _health(route, outcomes[route.name], memory, find_python)
                report(found[route.name])
    return [found[route.name] for route in routes]


def _health(route: Route, outcome: Outcome, memory: dict[str, int], find_python: Callable[[Group], Path]) -> Health:
    groups = dict.fromkeys(step.group.name for step in route.steps)
    available = outcome.status == "completed"
    return Health(
        route=route,
        available=available,
        reason=None if available else outcome.detail if outcome.status == "unavailable" else str(outcome),
        fix=None if available else _fix(route, find_python),
        versions=dict(sorted(outcome.versions.items())),
        startup_s=round(sum(time.wall_s for time in outcome.times if time.stage == START), 2),
        memory_mb=sum(memory.get(name, 0) for name in groups) // 2**20,
        lacks=_lacks(route),
    )


def _lacks(route: Route) -> tuple[str, ...]:
    found = []
    for name, own in _own_of(route).items():
        try:
            found += [f"environment {name}: {lack}" for lack in examine_own(own).lacks]
        except EnvironmentFailure as error:
            found.append(f"environment {name}: {error}")
    return tuple(found)


def _own_of(route: Route) -> dict[str, Own]:
    """The user's own interpreters that a route runs in."""
    known, names = environments.own(), dict.fromkeys(step.group.environment for step in route.steps)
    return {name: known[name] for name in names if name in known}


def _fix(route: Route, find_python: Callable[[Group], Path]) -> str | None:
    """The command for the first environment that is not there, or for what a user's own interpreter does not have."""
    own = _own_of(route)
    for step in route.steps:
        environment = step.group.environment
        try:
            find_python(step.group)
        except WorkerFailure:
            return _command(own[environment], ["numpy"]) if environment in own else fix(step.group)
        missing = _missing(route, environment) if environment in own else []
        if missing:
            return _command(own[environment], missing)
    return None


def _missing(route: Route, environment: str) -> list[str]:
    """The packages of the libraries that a route needs in an environment and that are not there."""
    steps = [step for step in route.steps if step.group.environment == environment]
    packages = [stage.owner.packages for step in steps for stage in step.stages]
    there = installed(environment)
    return list(dict.fromkeys(names[0] for names in packages if not any(name in there for name in names)))


def _command(own: Own, packages: Sequence[str]) -> str | None:
    """What a user may do about packages that are not there: we change nothing in an interpreter that is not ours."""
    try:
        usable = examine_own(own).version >= OLDEST
    except EnvironmentFailure:
        return None
    return f"{own.python} -m pip install {' '.join(packages)}" if usable else None
