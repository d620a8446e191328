"""A session of a campaign: from settings to strategy, executor and loop, begun anew or gone on with."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec

import cometfuzz
from cometfuzz.campaign.events import CaseDone, Ended, Event, Notice
from cometfuzz.campaign.loop import Bounds, Campaign, Proposed, proposed_by
from cometfuzz.campaign.replay import replay
from cometfuzz.campaign.store import Store
from cometfuzz.catalogue.files import decode
from cometfuzz.config import Config, GraphConfig
from cometfuzz.coverage.branches import Branches
from cometfuzz.coverage.layers import SIGMA
from cometfuzz.errors import InvalidCampaign, InvalidCoverage
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.observation import Observation
from cometfuzz.execution.supervisor import Limits
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import Graph
from cometfuzz.mutation.base import Limits as GraphLimits
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.strategies import WINDOW, Options, Strategy, make_strategy

OBSERVED = "keras-tf"
"""The route whose library code is observed for branch coverage, as in the paper."""

BRANCHES = "branches.json"
SAVED_EVERY = 20


@dataclass(frozen=True)
class Settings:
    """What a campaign is made with; recorded in its folder. Everything but `jobs` decides which cases there are."""

    strategy: str
    seed: int
    routes: tuple[str, ...]
    seeds: tuple[str, ...]
    sigma: int = SIGMA
    window: int = WINDOW
    branches: bool = True
    graphs: Mapping[str, int] = field(default_factory=lambda: msgspec.structs.asdict(GraphConfig()))
    jobs: int = 1
    cases: int | None = None
    minutes: float | None = None
    out: str = ""
    version: str = cometfuzz.__version__

    @staticmethod
    def of(plain: Mapping[str, Any]) -> "Settings":
        """Settings as they were recorded."""
        try:
            return Settings(**{**plain, "routes": tuple(plain["routes"]), "seeds": tuple(plain["seeds"])})
        except (KeyError, TypeError) as error:
            raise InvalidCampaign(f"expected the settings of a campaign; received {error}") from None

    def strategy_made(self) -> Strategy:
        graphs = [decode(text.encode()).graph for text in self.seeds]
        limits = GraphLimits.of(GraphConfig(**self.graphs))
        return make_strategy(self.strategy, Options(self.seed, graphs, limits, self.sigma))


def seed_texts(graphs: Sequence[Graph]) -> tuple[str, ...]:
    """Seeds as settings keep them, so that a campaign needs no other file."""
    return tuple(encode(Case(graph, 0)).decode() for graph in graphs)


class Session:
    """One run of a campaign, from the first or the next case to its end; a context manager.

    `stop()` may be called from a signal handler: what is under way is given up and proposed again by a later session.
    """

    def __init__(
        self, store: Store, settings: Settings, config: Config, routes: Mapping[str, Route], show: Callable[[int], None]
    ) -> None:
        self.store, self.settings, self._resources = store, settings, ExitStack()
        strategy = settings.strategy_made()
        done, spent_s = store.done, store.elapsed_s
        waiting: list[Proposed] = []
        if done:
            replay(store, strategy, settings.window, show, lambda case: waiting.append(proposed_by(strategy, case)))
        self._observation = Observation(self._stored_branches()) if self._observed else None
        group = ROUTES[OBSERVED].steps[0].group.name
        executor = Executor(
            [routes[name] for name in settings.routes],
            jobs=settings.jobs,
            limits=Limits(**{name: getattr(config.limits, name) for name in config.limits.__struct_fields__}),
            report=lambda text: self.campaign.notice(text),
            observers={group: self._observation} if self._observation is not None else {},
        )
        self.executor = self._resources.enter_context(executor)
        self.campaign = Campaign(
            strategy=strategy,
            executor=self.executor,
            policy=config.policy,
            seed=settings.seed,
            bounds=Bounds(settings.cases, settings.minutes),
            settings=_shown(settings),
            window=settings.window,
            done=done,
            spent_s=spent_s,
            waiting=waiting,
            branches=None if self._observation is None else self._observation.branches,
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
        for event in self.campaign.events():
            self.store.handle(event)
            due = isinstance(event, CaseDone) and event.index % SAVED_EVERY == SAVED_EVERY - 1
            if self._observation is not None and (due or isinstance(event, Ended | Notice)):
                self._save_branches(self._observation.branches)
            yield event

    @property
    def _observed(self) -> bool:
        return self.settings.branches and OBSERVED in self.settings.routes

    def _stored_branches(self) -> Branches:
        path = self.store.folder / BRANCHES
        if not path.is_file():
            return Branches()
        try:
            return Branches.from_plain(json.loads(path.read_bytes()))
        except (ValueError, InvalidCoverage):  # a file that somebody broke costs a recount, no more
            return Branches()

    def _save_branches(self, branches: Branches) -> None:
        path = self.store.folder / BRANCHES
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(branches.to_plain()))
        os.replace(draft, path)


def _shown(settings: Settings) -> dict[str, Any]:
    """The settings as events carry them: without the texts of the seeds."""
    plain = dict(vars(settings))
    return {**plain, "seeds": len(settings.seeds), "routes": list(settings.routes)}
