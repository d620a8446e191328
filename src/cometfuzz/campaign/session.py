"""A session of a campaign: from settings to strategy, executor and loop, begun anew or gone on with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Protocol

import msgspec

import cometfuzz
from cometfuzz.campaign.events import CaseDone, Ended, Event, Notice
from cometfuzz.campaign.judging import JudgingExecutor
from cometfuzz.campaign.leads import Leads
from cometfuzz.campaign.loop import Bounds, Campaign, Proposed, learn_of_routes, proposed_by
from cometfuzz.campaign.reached import save_branches, stored_branches
from cometfuzz.campaign.replay import replay
from cometfuzz.campaign.store import Store
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.offer import Offer
from cometfuzz.catalogue.spec import KERAS3
from cometfuzz.config import Config, GraphConfig, PolicyConfig
from cometfuzz.coverage.branches import MODULES, PAPER_MODULES
from cometfuzz.coverage.layers import SIGMA, SPACES
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.execution.budget import Budget
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.machine import this_machine
from cometfuzz.execution.observation import Observation, observer_of, obstacle
from cometfuzz.execution.offers import digest_of, offers_of
from cometfuzz.execution.policy import joined
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.sayable import generation_of
from cometfuzz.execution.sides import CommonView, Sides
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Graph
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.matching import View
from cometfuzz.ledger.reading import overlay
from cometfuzz.mutation import with_others
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.dialect import Dialect, Dialects
from cometfuzz.oracles.judging import expect_plugins
from cometfuzz.routes import Group, Route
from cometfuzz.routes.keras import KERAS_TF
from cometfuzz.routes.switches import with_switches
from cometfuzz.search.strategies import WINDOW, Options, RouteGoals, Strategy, make_strategy

OBSERVED = KERAS_TF
"""The route whose library code is observed for branch coverage, as in the paper."""

SAVED_EVERY = 20

Some = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


@dataclass(frozen=True)
class Settings:
    """What a campaign is made with; recorded in its folder. Everything but `jobs` decides which cases there are."""

    strategy: str
    seed: int
    routes: tuple[str, ...]
    seeds: tuple[str, ...]
    sigma: Some = SIGMA
    window: Annotated[int, msgspec.Meta(ge=1, le=1000)] = WINDOW
    branches: bool = True
    graphs: Mapping[str, int] = field(default_factory=lambda: msgspec.structs.asdict(GraphConfig()))
    jobs: Some = 1
    cases: Some | None = None
    minutes: Annotated[float, msgspec.Meta(ge=0, le=2**31)] | None = None
    out: str = ""
    version: str = cometfuzz.__version__
    ledger: str = ""
    """The digest of what this machine had learned of the ledger."""
    cpu: str = ""
    """The kind of CPU, which decides what of the ledger stands."""
    mutations: tuple[str, ...] = ()
    """Mutations of other packages that take part."""
    offers: str = ""
    """The digest of what the libraries were known to lack."""
    between: tuple[str, ...] = ()
    """What is compared, as it was named: the old side and the new one."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The routes of the two sides."""

    @staticmethod
    def of(plain: Mapping[str, Any]) -> "Settings":
        """Settings as they were recorded."""
        try:
            if unknown := plain.keys() - {field.name for field in fields(Settings)}:
                raise ValueError(f"`{sorted(unknown)[0]!r:.80}`, which nobody knows")
            settings = msgspec.convert(plain, Settings)
            msgspec.convert(settings.graphs, GraphConfig)
            if not settings.seeds:
                raise ValueError("none in `seeds`")
            for text in settings.seeds:
                decode(text.encode())
        except (ValueError, InvalidCase) as error:
            raise InvalidCampaign(f"expected the settings of a campaign; received others: {error}") from None
        return settings

    @property
    def sides(self) -> Sides | None:
        """What is compared; None if it is a plain campaign."""
        return Sides(*self.between, self.pairs) if len(self.between) == 2 and self.pairs else None

    def strategy_made(self, dialects: Dialects, goals: RouteGoals | None = None) -> Strategy:
        graphs = [decode(text.encode()).graph for text in self.seeds]
        limits = ModelLimits.of(GraphConfig(**self.graphs))
        mutations = with_others(",".join(self.mutations))
        options = Options(self.seed, graphs, limits, self.sigma, dialects, mutations, goals)
        return make_strategy(self.strategy, options)


def seed_texts(graphs: Sequence[Graph]) -> tuple[str, ...]:
    """Seeds as settings keep them, so that a campaign needs no other file."""
    return tuple(encode(Case(graph, 0)).decode() for graph in graphs)


class Remote(JudgingExecutor, Protocol):
    """An executor on a cluster: it can be told to give up, and reports what happens to its nodes."""

    report: Callable[[str], None]

    def halt(self) -> None: ...


Elsewhere = Callable[[Sequence[Route], Mapping[str, Offer]], Remote]


class Session:
    """One run of a campaign, from the first or the next case to its end; a context manager.

    `stop()` may be called from a signal handler: what is under way is given up and proposed again by a later session.
    elsewhere: makes the executor of a cluster, out of all routes and what their libraries lack; else it runs here.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        config: Config,
        routes: Mapping[str, Route],
        show: Callable[[int], None],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.store, self.settings, self._resources = store, settings, ExitStack()
        if missing := [name for name in settings.routes if name not in routes]:
            raise InvalidCampaign(
                f"{store.folder}: expected routes out of {', '.join(routes)}; received "
                f"{', '.join(map(repr, missing))}: what declares them is missing, a package or the cometfuzz.toml "
                "of then (--config)"
            )
        expect_plugins()
        taking, sides = {name: routes[name] for name in settings.routes}, settings.sides
        policy = joined(config.policy, taking.values()) if sides is None else sides.policy(config.policy, routes)
        self._offers = offers_of(taking)
        view = view_of(routes, offers=self._offers)
        if sides is not None:
            view = CommonView(view, sides)
        counted = [name for name in taking if name != REFERENCE.name]
        ran = RouteCoverage({name: [space(settings.sigma) for space in SPACES] for name in counted})
        budget = Budget(policy, taking)
        goals = RouteGoals(ran, _goals(view, policy, taking), policy.largest_cut, lambda: budget.behind)
        strategy = settings.strategy_made(Dialects.on(view, policy.base, policy.only), goals)
        done, spent_s = store.done, store.elapsed_s
        waiting: list[Proposed] = []
        if done:
            replay(
                store,
                strategy,
                settings.window,
                show,
                lambda case: waiting.append(proposed_by(strategy, case, ran, budget)),
                lambda case, statuses: learn_of_routes(ran, budget, case, statuses),
            )
        group, modules = self._observed(taking, generation_of(policy.base, taking))
        self._unobserved = "" if group is None else obstacle(group)
        self._observation = None
        if group is not None and not self._unobserved:
            self._observation = Observation(stored_branches(store.folder, modules), module=observer_of(group))
        taken = list(with_switches(routes[name] for name in settings.routes))
        machine: dict[str, Any] = {"machine": asdict(this_machine(taken))}
        self.executor: Executor | Remote
        if elsewhere is not None:
            remote = elsewhere(taken, self._offers)
            remote.report = lambda text: self.campaign.notice(text)
            self.executor, machine["nodes"] = remote, dict(remote.news)
        else:
            executor = Executor(
                taken,
                jobs=settings.jobs,
                limits=WorkerLimits.of(config.limits),
                report=lambda text: self.campaign.notice(text),
                observers={group.name: self._observation} if group and self._observation is not None else {},
                offers=self._offers,
            )
            self.executor = self._resources.enter_context(executor)
        self.campaign = Campaign(
            strategy=strategy,
            executor=self.executor,
            policy=policy,
            ran=ran,
            budget=budget,
            seed=settings.seed,
            bounds=Bounds(settings.cases, settings.minutes),
            settings={**_shown(settings), **machine},
            window=settings.window,
            done=done,
            spent_s=spent_s,
            waiting=waiting,
            branches=None if self._observation is None else self._observation.branches,
            sides=sides,
            leads=Leads(store.kinds(), {} if sides is None else dict(sides.pairs)),
        )

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self._resources.close()

    def stop(self) -> None:
        self.campaign.stop.set()
        self.executor.halt()

    def events(self) -> Iterator[Event]:
        """The campaign's events, each one stored before it is given on."""
        for problem in self.store.check() if self.store.done else ():
            self.campaign.notice(problem)
        if self.settings.ledger != overlay().digest:
            self.campaign.notice(
                "the ledger was refreshed since this campaign began: its cases are others from here on"
            )
        if self.settings.offers != digest_of(self._offers):
            self.campaign.notice(
                "the libraries offer something else than when this campaign began: its cases are others from here on"
            )
        if self.settings.cpu not in ("", cpu_level()):
            self.campaign.notice(
                f"this campaign began on another kind of CPU ({self.settings.cpu}, here {cpu_level()}): its cases are "
                "others from here on"
            )
        if self._unobserved:
            self.campaign.notice(f"{self._unobserved}: the search goes by layers alone")
        for event in self.campaign.events():
            self.store.handle(event)
            due = isinstance(event, CaseDone) and event.index % SAVED_EVERY == SAVED_EVERY - 1
            if self._observation is not None and (due or isinstance(event, Ended | Notice)):
                save_branches(self.store.folder, self._observation.branches)
            yield event

    def _observed(self, routes: Mapping[str, Route], generation: str) -> tuple[Group | None, Sequence[str]]:
        """The child whose library is observed, if one is to be, and which modules of it; a copy of the observed route
        stands in for it where all speak Keras 2."""
        alike = [OBSERVED.name, *(name for name, route in routes.items() if route.like == OBSERVED.name)]
        chosen = alike[0] if generation == KERAS3 else next((name for name in alike if name in routes), "")
        if not self.settings.branches or chosen not in routes:
            return None, ()
        return routes[chosen].steps[0].group, MODULES if generation == KERAS3 else PAPER_MODULES


def _goals(view: View, policy: PolicyConfig, routes: Mapping[str, Route]) -> dict[str, Dialect]:
    """The dear routes that models are made for, each with what may be said there: all that it and the base routes can
    do, and those that a cut is always cleared for."""
    usual = generation_of(policy.base, routes)
    dear = [name for name in policy.converters if name in routes and routes[name].speaks == usual]
    able = [name for name in (*policy.base, *policy.clear) if name in routes]
    return {name: Dialect(usual, tuple(dict.fromkeys([*able, name])), view) for name in dear}


def _shown(settings: Settings) -> dict[str, Any]:
    """The settings as events carry them: without the texts of the seeds."""
    plain = dict(vars(settings))
    return {**plain, "seeds": len(settings.seeds), "routes": list(settings.routes)}
