"""The planted faults as routes, and campaigns over them."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from faults import FAULTS, Fault

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.loop import Bounds, Campaign
from cometfuzz.config import PolicyConfig
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.routes import QUIET, Group, Route, Stage, Step
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.published import names, synthesised

DEADLY = ("hang-above-size", "segfault")
"""These cost the worker its life, so they have one of their own."""

STAGE_S = 3.0


def _step(stage: str, fault: str = "", reader: str = "") -> Step:
    """A step with its library: clean, or with a fault."""
    group = Group(f"planted-{fault}" if fault in DEADLY else "planted", "tool", QUIET)
    library = f"{stage}-{fault or 'clean'}{reader}"
    options = {"fault": fault} if fault else {}
    return Step(library, group, "planted", stage, (Stage(stage, library),), options, live=stage == "build")


def _route(name: str, *steps: Step) -> Route:
    return Route(name, "planted", "", steps)


BUILD, CONVERT = _step("build"), _step("convert")
CLEAN = (
    _route("clean-a", BUILD, _step("run", reader="-a")),
    _route("clean-b", BUILD, CONVERT, _step("run", reader="-b")),
    _route("clean-c", BUILD, CONVERT, _step("run", reader="-c")),
)


def routes_of(fault: Fault) -> tuple[Route, ...]:
    """One route for a faulty runtime; two for what stands before runtimes, since both inherit it."""
    name = fault.name
    if fault.stage == "run":
        return (_route(name, BUILD, CONVERT, _step("run", name)),)
    readers = _step("run", reader="-a"), _step("run", reader="-b")
    if fault.stage == "convert":
        return tuple(
            _route(f"{name}{end}", BUILD, _step("convert", name), run) for end, run in zip("12", readers, strict=True)
        )
    build = _step("build", name)
    return _route(f"{name}1", build, readers[0]), _route(f"{name}2", build, CONVERT, readers[1])


def library_of(fault: Fault) -> str:
    """Whom triage ought to blame."""
    return f"{fault.stage}-{fault.name}"


@contextmanager
def executing(routes: Sequence[Route], pause_after: int = 10) -> Iterator[Executor]:
    limits = Limits(stage_s=STAGE_S)
    with Executor(
        routes, limits=limits, pause_after=pause_after, find_python=lambda group: Path(sys.executable)
    ) as made:
        yield made


def campaign(executor: Executor, cases: int, seed: int) -> Iterator[CaseDone]:
    """A campaign over all routes of an executor, from the synthesised seeds, with our own strategy."""
    chosen = tuple(executor.routes)
    policy = PolicyConfig(base=chosen, converters=(), sampled=(), only=chosen)
    strategy = make_strategy("directed", Options(seed, [synthesised(name) for name in names()]))
    for event in Campaign(strategy, executor, policy, seed, Bounds(cases=cases), {}).events():
        if isinstance(event, CaseDone):
            yield event


def all_faults() -> list[Fault]:
    return list(FAULTS.values())
