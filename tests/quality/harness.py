"""The planted faults as routes, and campaigns over them."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from faults import FAULTS, Fault

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.loop import Bounds, Campaign
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.config import PolicyConfig
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import Limits
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Finding
from cometfuzz.routes import QUIET, Group, Route, Stage, Step
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.published import names, synthesised
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.triage import Triage

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


@dataclass
class Hunt:
    """What a campaign over planted faults came to.

    found: for each fault that was found, the index of the case. bugs: what triage made of its findings. alarms: what
    was said of routes without a fault. duplicate_s: how long each finding of a known bug took.
    """

    faults: Sequence[Fault]
    found: dict[str, int] = field(default_factory=dict)
    bugs: dict[str, list[Bug]] = field(default_factory=dict)
    alarms: list[Finding] = field(default_factory=list)
    duplicate_s: list[float] = field(default_factory=list)

    @property
    def missed(self) -> list[str]:
        return [fault.name for fault in self.faults if fault.name not in self.found]

    @property
    def well_done(self) -> list[str]:
        """The faults of which some bug has one or two catalogue layers and blames the planted stage."""
        return [name for name, bugs in self.bugs.items() if any(is_small(bug) and is_right(name, bug) for bug in bugs)]

    @property
    def duplicates(self) -> int:
        return sum(len(bugs) - 1 for bugs in self.bugs.values())


def is_small(bug: Bug) -> bool:
    layers = [layer for layer in bug.signature.layers if CATALOGUE[layer].counted]
    return 1 <= len(layers) <= 2


def is_right(fault: str, bug: Bug) -> bool:
    return (bug.blame.library, bug.blame.stage) == (library_of(FAULTS[fault]), FAULTS[fault].stage)


def hunt(
    faults: Sequence[Fault],
    cases: int,
    seed: int = 1,
    with_triage: bool = True,
    report: Callable[[int], None] = lambda index: None,
) -> Hunt:
    """A campaign over all faults at once, each in a route of its own, beside three clean routes; then triage."""
    owners = {route.name: fault.name for fault in faults for route in routes_of(fault)}
    routes = [*CLEAN, *(route for fault in faults for route in routes_of(fault))]
    result = Hunt(faults)
    with executing(routes) as executor, executing(routes, pause_after=0) as apart:
        triage = Triage(apart, effort=Effort(steps=400, wall_s=120))
        for done in campaign(executor, cases, seed):
            report(done.index)
            for part in done.parts:
                for finding in part.findings:
                    owner = owners.get(finding.camps[0].routes[0])
                    if owner is None or any(name not in owners for name in finding.camps[0].routes):
                        result.alarms.append(finding)
                        continue
                    result.found.setdefault(owner, done.index)
                    if with_triage:
                        _triage(triage, finding, part.case, owner, result)
    return result


def _triage(triage: Triage, finding: Finding, case: Case, owner: str, result: Hunt) -> None:
    began = time.monotonic()
    triaged = triage.triage(finding, case)
    if triaged.new and triaged.bug is not None:
        result.bugs.setdefault(owner, []).append(triaged.bug)
    else:
        result.duplicate_s.append(time.monotonic() - began)
