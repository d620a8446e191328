"""Runs of an experiment: one for each arm and seed, each in a folder, so that an experiment goes on where it was.

Where nothing runs, every case counts as executed, and a run that was interrupted is made again, in seconds. Else a run
is a campaign (`OUT/ARM/SEED/campaign`), which resumes like any other; the CPU seconds of the few cases since its trace
was last written are then not counted. CPU seconds are those of the parent and of libraries, without the start of
children.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.session import Session, Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.config import Config
from cometfuzz.coverage.gain import Coverage, summary_of
from cometfuzz.errors import CometfuzzError, InvalidCampaign
from cometfuzz.evaluation.arms import SYNTHESISED, Arm, folder_of
from cometfuzz.execution.offers import digest_of, offers_of
from cometfuzz.ir.case import Case
from cometfuzz.places import Place
from cometfuzz.routes import Route
from cometfuzz.search.strategies import Feedback, Strategy, strategies, window_of
from cometfuzz.seeds import published

TRACE, CAMPAIGN = "trace.json", "campaign"
MAX_BYTES = 16 * 2**20
MOMENTS = 60
"""How often a run is looked at, and after how many cases every one of the first ones: an arm whose models are dear may
make no more."""

INPUTS = ("dtype", "rank", "shape")


@dataclass(frozen=True)
class Moment:
    """What a run had after so many cases. covered: items of the paper's space, by criterion, those of inputs also by
    kind, and sequences by direct edges; branches and lines where they were observed."""

    cases: int
    executed: int
    attempts: int
    cpu_s: float
    library_cpu_s: float
    nodes: int
    covered: Mapping[str, int]


@dataclass(frozen=True)
class Bounds:
    """When a run ends: whichever comes first."""

    cases: int
    cpu_s: float | None = None

    def reached(self, moment: Moment) -> bool:
        return moment.cases >= self.cases or (self.cpu_s is not None and moment.cpu_s >= self.cpu_s)


@dataclass
class Run:
    """The trace of one arm with one seed, in its folder."""

    arm: Arm
    seed: int
    folder: Path
    executed: bool
    moments: list[Moment] = field(default_factory=list)
    totals: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def at(out: Path, arm: Arm, seed: int, executed: bool) -> "Run":
        """A run as it stands in its folder; a trace of another kind of run is refused."""
        run = Run(arm, seed, out / folder_of(arm) / str(seed), executed)
        place = Place(run.folder)
        if run.folder.is_dir() and place.kind(TRACE):
            try:
                stored = msgspec.json.decode(place.read(TRACE, MAX_BYTES), type=_Trace)
            except (msgspec.DecodeError, RecursionError) as error:
                raise InvalidCampaign(
                    f"{run.folder / TRACE}: expected the trace of a run; received {error}: remove {run.folder}"
                ) from None
            if msgspec.structs.replace(stored, totals={}, moments=[]) != run._plain:
                raise InvalidCampaign(
                    f"{run.folder}: expected a run of {arm.name}, seed {seed}; received another: name another --out"
                )
            run.moments, run.totals = stored.moments, stored.totals
        return run

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        trace = msgspec.structs.replace(self._plain, totals=dict(self.totals), moments=self.moments)
        Place(self.folder).write(TRACE, msgspec.json.encode(trace))

    @property
    def _plain(self) -> "_Trace":
        """What is run, without what came of it."""
        arm = self.arm
        return _Trace(arm.name, arm.strategy, arm.switch, arm.sigma, self.seed, self.executed, seeds=arm.seeds)

    def is_done(self, bounds: Bounds) -> bool:
        return bool(self.moments) and bounds.reached(self.moments[-1])

    def after_cases(self, cases: int) -> Moment:
        """The last moment with at most so many cases, or the first one."""
        return max((each for each in self.moments if each.cases <= cases), key=_cases, default=self.moments[0])

    def after_cpu(self, cpu_s: float) -> Moment:
        """The last moment within a time, or the first one."""
        return max((each for each in self.moments if each.cpu_s <= cpu_s), key=_cases, default=self.moments[0])

    def share(self, moment: Moment, criterion: str) -> float:
        """Percent of all items."""
        return 100 * moment.covered[criterion] / max(1, self.totals[criterion])


class _Trace(msgspec.Struct, frozen=True):
    arm: str
    strategy: str
    switch: str
    sigma: int
    seed: int
    executed: bool
    totals: dict[str, int] = {}
    moments: list[Moment] = []
    seeds: str = SYNTHESISED


def _cases(moment: Moment) -> int:
    return moment.cases


Show = Callable[[Run, Moment], None]


def is_due(cases: int, every: int) -> bool:
    """Whether a run is looked at after so many cases."""
    return cases <= MOMENTS or cases % every == 0


def generate(run: Run, bounds: Bounds, show: Show) -> None:
    """Let a strategy make its cases, each as if it executed."""
    strategy = run.arm.made(run.seed)
    flying: deque[Case] = deque()
    run.moments, window, every = [], window_of(strategy), max(1, bounds.cases // MOMENTS)
    began, nodes, cases = time.process_time(), 0, 0
    while not run.moments or not bounds.reached(run.moments[-1]):
        if len(flying) == window:
            strategy.learn(flying.popleft(), Feedback(executed=True))
        flying.append(strategy.propose())
        cases, nodes = cases + 1, nodes + len(flying[-1].graph.nodes)
        spent = time.process_time() - began
        if is_due(cases, every) or cases >= bounds.cases or (bounds.cpu_s is not None and spent >= bounds.cpu_s):
            landed = cases - len(flying)
            run.moments.append(moment_of(strategy, cases, landed, (spent, 0.0), nodes))
            show(run, run.moments[-1])
    for case in flying:
        strategy.learn(case, Feedback(executed=True))
    run.moments[-1] = moment_of(strategy, cases, cases, (time.process_time() - began, 0.0), nodes)
    run.totals = totals_of(strategy)
    run.save()


def execute(run: Run, bounds: Bounds, routes: Mapping[str, Route], config: Config, show: Show) -> None:
    """Run, or go on with, the campaign of an arm, until a bound is reached; KeyboardInterrupt saves."""
    if run.arm.switch:
        raise CometfuzzError(f"expected an arm that is a strategy, where models run; received arm={run.arm.name!r}")
    run.folder.mkdir(parents=True, exist_ok=True)
    folder = run.folder / CAMPAIGN
    with _campaign(folder, _settings(run, bounds, routes)) as store:
        settings = Settings.of({**store.settings, "cases": bounds.cases, "minutes": None})
        run.moments = [moment for moment in run.moments if moment.cases <= store.done]
        last = run.moments[-1] if run.moments else Moment(0, 0, 0, 0.0, 0.0, 0, {})
        (executed,) = next(store.select("SELECT count(*) FROM cases WHERE json_extract(feedback, '$.executed')"))
        (nodes,) = next(store.select("SELECT coalesce(sum(nodes), 0) FROM cases"))
        with Session(store, settings, config, routes, lambda done: None) as session:
            strategy = session.campaign.strategy
            run.totals, began = totals_of(strategy), time.process_time()
            every = max(1, bounds.cases // MOMENTS)
            try:
                for event in session.events():
                    if not isinstance(event, CaseDone):
                        continue
                    executed, nodes = executed + event.feedback["executed"], nodes + event.nodes
                    usage = session.executor.usage
                    in_libraries = usage.library_cpu_s - usage.start_cpu_s
                    library = last.library_cpu_s + in_libraries
                    spent = last.cpu_s + time.process_time() - began + in_libraries
                    cases = event.index + 1
                    over = bounds.cpu_s is not None and spent >= bounds.cpu_s
                    if is_due(cases, every) or cases >= bounds.cases or over:
                        shares = session.campaign.branches
                        seen = {}
                        if shares is not None:
                            seen = {"branches": shares.branch_share[0], "lines": shares.line_share[0]}
                            found = {"branches": shares.branch_share[1], "lines": shares.line_share[1]}
                            run.totals = {**run.totals, **found}
                        run.moments.append(moment_of(strategy, cases, executed, (spent, library), nodes, seen))
                        run.save()
                        show(run, run.moments[-1])
                    if over:
                        session.stop()
            except KeyboardInterrupt:
                session.stop()
                raise


def _campaign(folder: Path, settings: Settings) -> Store:
    if not folder.exists():
        return Store.create(folder, vars(settings))
    store = Store.open(folder)
    fixed = ("strategy", "seed", "routes", "sigma", "window", "branches")
    begun = Settings.of(store.settings)
    if other := [name for name in fixed if getattr(begun, name) != getattr(settings, name)]:
        store.close()
        raise InvalidCampaign(
            f"{folder}: expected the campaign of this run; received one with other {', '.join(other)}: "
            "name another --out"
        )
    return store


def _settings(run: Run, bounds: Bounds, routes: Mapping[str, Route]) -> Settings:
    graphs = [published.synthesised(name) for name in published.names()]
    return Settings(
        strategy=run.arm.strategy,
        seed=run.seed,
        routes=tuple(routes),
        seeds=seed_texts(graphs),
        sigma=run.arm.sigma,
        window=window_of(strategies()[run.arm.strategy]),
        cases=bounds.cases,
        offers=digest_of(offers_of(routes)),
    )


def moment_of(
    strategy: Strategy,
    cases: int,
    executed: int,
    spent: tuple[float, float],
    nodes: int,
    more: Mapping[str, int] | None = None,
) -> Moment:
    """How a strategy stands; spent: CPU seconds in all, and those of libraries."""
    summary = summary_of(strategy.coverages)["paper"]
    paper = next(coverage for coverage in strategy.coverages if coverage.space.name == "paper")
    kinds = _kinds(paper)
    covered = {name: counts["covered"] for name, counts in summary.items()}
    covered |= {"direct": summary["sequences"]["direct"], **{kind: kinds[kind] for kind in INPUTS}, **(more or {})}
    attempts = sum(int(record["attempts"]) for record in strategy.operators().values())
    return Moment(cases, executed, attempts, round(spent[0], 3), round(spent[1], 3), nodes, covered)


def totals_of(strategy: Strategy) -> dict[str, int]:
    """How many items there are of each kind that a moment counts."""
    paper = next(coverage for coverage in strategy.coverages if coverage.space.name == "paper")
    kinds = Counter(item.name for item in paper.space.items["inputs"])
    totals = {name: paper.space.total(name) for name in paper.space.items}
    return {**totals, "direct": totals["sequences"], **{kind: kinds[kind] for kind in INPUTS}}


def _kinds(coverage: Coverage) -> Counter[str]:
    return Counter(fact.name for fact in coverage.facts() if fact.criterion == "inputs")


def runs(out: Path, arms: Sequence[Arm], seeds: Sequence[int], executed: bool) -> Iterator[Run]:
    """All runs of an experiment, seed by seed, so that arms have equally many when it is interrupted."""
    for seed in seeds:
        for arm in arms:
            yield Run.at(out, arm, seed, executed)
