"""The planted faults as routes, and campaigns over them."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from faults import FAULTS, FRONT, KNOWN, POINTS, READER, SETTINGS, Fault

from cometfuzz.campaign.events import CaseDone, Event
from cometfuzz.campaign.loop import Bounds, Campaign
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.config import PolicyConfig
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ledger.defect import Applies, Defect, Seen
from cometfuzz.ledger.matching import Rule, View, rule_of
from cometfuzz.oracles.finding import Finding
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step, Switch
from cometfuzz.routes.forms import AGAIN, PREDICT
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.switches import plain_name, with_switches
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.published import names, synthesised
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.reduce import Effort
from cometfuzz.triage.triage import Triage

STAGE_S = 3.0
VERSIONS = {"planted": "1"}
SHARED = Group("planted", "tool", QUIET)
SWITCHES = 8
"""The point whose faults take a switch: their libraries have some, and one that is clean."""


def _step(stage: str, who: str, *faults: str, group: Group = SHARED) -> Step:
    """A step of a library, with its faults."""
    library, options = f"{stage}-{who}", {"fault": ",".join(faults)} if faults else {}
    live = stage in ("build", "graph")
    return Step(library, group, "planted", stage, (Stage(stage, Library(library)),), options, live=live)


def _route(name: str, *steps: Step) -> Route:
    *before, run = steps
    again = (*before, replace(run, name=f"{run.name}-again"))
    predict = (*before, replace(run, name=f"{run.name}-predict", call="predict"))
    return Route(name, "planted", "", steps, forms={AGAIN: again, PREDICT: predict})


def _switched(route: Route) -> Route:
    """A route whose library has every setting that is not the usual one; how it is called is none of its own."""
    library, found = route.stages[-1].owner, []
    for name, (_, *values) in SETTINGS.items():
        for value in values if name != "call" else ():
            where = "environ" if name.isupper() else "options"
            short, ladder = f"{name}-{value}".lower().replace("_", "-"), "level" if name == "level" else ""
            found.append(Switch(short, f"with {name}={value}", library, **{where: {name: value}}, ladder=ladder))
    return replace(route, switches=tuple(found))


def _known(stage: str) -> list[str]:
    return [fault.name for fault in KNOWN.values() if fault.stage == stage]


BUILD, CONVERT = _step("build", "clean"), _step("convert", "clean")
CLEAN = (
    _switched(_route("clean-a", BUILD, _step("run", "clean-a"))),
    _route("clean-b", BUILD, CONVERT, _step("run", "clean-b")),
    _route("clean-c", BUILD, CONVERT, _step("run", "clean-c")),
)
FRONT_BUILD, FRONT_CONVERT = _step("build", FRONT, *_known("front build")), _step("convert", FRONT)
DECLARED = (
    _route(FRONT, FRONT_BUILD, _step("run", FRONT, *_known("front run"))),
    _route(f"{FRONT}-b", FRONT_BUILD, FRONT_CONVERT, _step("run", "clean-b")),
    _route(f"{FRONT}-c", FRONT_BUILD, FRONT_CONVERT, _step("run", "clean-c")),
    _route(READER, BUILD, CONVERT, _step("run", READER, *_known("reader run"))),
)
"""Routes whose only faults the planted ledger holds: a front end and two readers of its files, and one more reader."""


def routes_of(fault: Fault) -> tuple[Route, ...]:
    """One route for a faulty runtime or compiler; two for what stands before runtimes, since both inherit it."""
    name, stage = fault.name, fault.stage
    group = Group(f"planted-{name}", "tool", QUIET) if fault.deadly else SHARED
    build, convert = (FRONT_BUILD, FRONT_CONVERT) if fault.behind_front else (BUILD, CONVERT)
    wrong = _step(stage, name, name, group=group)
    own = f"{name}-" if fault.unchecked else ""  # who refuses is told by the library at the end of a route
    readers = [_step("run", f"clean-{own}{end}", group=group) for end in "ab"]
    if stage == "run":
        route = _route(name, build, convert, wrong)
        return (_switched(route) if fault.point == SWITCHES else route,)
    if stage == "graph":
        return (_route(name, build, wrong, readers[0]),)
    if stage == "convert":
        return tuple(_route(f"{name}{end}", build, wrong, run) for end, run in zip("12", readers, strict=True))
    convert = _step("convert", "clean", group=group)
    return _route(f"{name}1", wrong, readers[0]), _route(f"{name}2", wrong, convert, readers[1])


def planted_ledger() -> list[Rule]:
    """What is known of the planted libraries, in the words of the ledger."""
    found = []
    for name, fault in KNOWN.items():
        route = READER if fault.stage.startswith("reader") else FRONT
        applies = Applies((route,), layers=fault.layers, symptom="value")
        entry = Defect(title=name, why=name, library=route, seen=(Seen(VERSIONS),), applies=(applies,), id=name)
        found.append(rule_of(entry, applies))
    return found


def library_of(fault: Fault) -> str:
    """Whom triage ought to blame."""
    return f"{fault.stage}-{fault.name}"


@contextmanager
def executing(routes: Sequence[Route], pause_after: int = 10) -> Iterator[Executor]:
    """An executor for planted routes, which are registered as long, and go by the planted ledger."""
    limits, added = WorkerLimits(stage_s=STAGE_S), {route.name: route for route in routes if route.name not in ROUTES}
    ROUTES.update(added)
    try:
        here, everything = Path(sys.executable), with_switches(routes)
        with Executor(everything, limits=limits, pause_after=pause_after, find_python=lambda group: here) as made:
            made.view = View(made.routes, dict.fromkeys(made.routes, VERSIONS), planted_ledger())
            yield made
    finally:
        for name in added:
            del ROUTES[name]


def campaign(
    executor: Executor, cases: int, seed: int, minutes: float | None = None, strategy: str = "directed"
) -> Iterator[CaseDone]:
    """The cases of a campaign over all routes of an executor."""
    for event in events(executor, cases, seed, minutes, strategy):
        if isinstance(event, CaseDone):
            yield event


def events(
    executor: Executor, cases: int, seed: int, minutes: float | None = None, strategy: str = "directed"
) -> Iterator[Event]:
    """A campaign over all routes of an executor, from the synthesised seeds."""
    chosen = tuple(name for name, route in executor.routes.items() if route.switch is None)
    policy = PolicyConfig(base=chosen, converters=(), sampled=(), only=chosen)
    made = make_strategy(strategy, Options(seed, [synthesised(name) for name in names()]))
    yield from Campaign(made, executor, policy, seed, Bounds(cases, minutes), {}).events()


__all__ = ["POINTS"]


def all_faults() -> list[Fault]:
    return list(FAULTS.values())


@dataclass
class Hunt:
    """What a campaign over planted faults came to.

    cases: how many were run. found: for each fault that was found, the index of the case. bugs: what triage made of its
    findings. alarms: what was said of routes without a fault. duplicate_s: how long each finding of a known bug took.
    """

    faults: Sequence[Fault]
    cases: int = 0
    found: dict[str, int] = field(default_factory=dict)
    bugs: dict[str, list[Bug]] = field(default_factory=dict)
    alarms: list[Finding] = field(default_factory=list)
    duplicate_s: list[float] = field(default_factory=list)

    def add(self, other: "Hunt") -> None:
        """What another campaign came to, over other faults."""
        self.faults = [*self.faults, *other.faults]
        self.found |= other.found
        self.bugs |= other.bugs
        self.alarms += other.alarms
        self.duplicate_s += other.duplicate_s

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
    minutes: float | None = None,
    report: Callable[[int], None] = lambda index: None,
    strategy: str = "directed",
) -> Hunt:
    """A campaign over all faults at once, each in a route of its own, beside routes of which there is nothing new to
    say; then triage. A finding that is explained by what is known has found nothing."""
    owners = {route.name: fault.name for fault in faults for route in routes_of(fault)}
    routes = [*CLEAN, *DECLARED, *(route for fault in faults for route in routes_of(fault))]
    result = Hunt(faults)
    with executing(routes) as executor, executing(routes, pause_after=0) as apart:
        triage = Triage(apart, effort=Effort(steps=400, wall_s=120))
        for done in campaign(executor, cases, seed, minutes, strategy):
            result.cases = done.index + 1
            report(done.index)
            for part in done.parts:
                for finding in part.findings:
                    if finding.defect in KNOWN:
                        continue
                    failing = [plain_name(name) for name in finding.camps[0].routes]
                    owner = owners.get(failing[0])
                    if owner is None or any(name not in owners for name in failing):
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
