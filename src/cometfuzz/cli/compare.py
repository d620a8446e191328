"""`cometfuzz compare`: the same cases on two versions, and what differs."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from cometfuzz.campaign.comparison import Difference, triage_comparison
from cometfuzz.campaign.events import CaseDone, Event
from cometfuzz.campaign.folder import DATABASE
from cometfuzz.campaign.session import Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.triaging import Progress as Step
from cometfuzz.cli.completing import complete_routes, complete_side
from cometfuzz.cli.numbers import LARGEST_SEED, MOST_CASES, MOST_MINUTES, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.cli.run import Configured, Jobs, Seeds, ask_libraries, drive, meet, never_ran, seed_graphs
from cometfuzz.cli.triage import KnownOption
from cometfuzz.config import load as load_config
from cometfuzz.errors import InvalidCampaign, WorkerFailure
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.executor import expect_environments
from cometfuzz.execution.offers import digest_of, offers_of
from cometfuzz.execution.sides import Sides, sides_between
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.reading import overlay
from cometfuzz.reports.comparison import Comparison, comparison, rendered, write_comparison
from cometfuzz.reports.console import Screen
from cometfuzz.reports.text import clean
from cometfuzz.routes import Route
from cometfuzz.triage.known import Known, gather_known

MINUTES = 10.0
SIDE = "An environment (`cometfuzz env list`), or routes with commas between them"


class FailOn(StrEnum):
    """What makes a comparison fail."""

    never = "never"
    regression = "regression"


def compare(
    old: Annotated[str, typer.Argument(metavar="A", help=f"The old side. {SIDE}.", autocompletion=complete_side)],
    new: Annotated[
        str, typer.Argument(metavar="B", help=f"The new side. {SIDE}, as many as for A.", autocompletion=complete_side)
    ],
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            callback=at_most(MOST_MINUTES),
            help=f"Run cases for so many minutes, by default {MINUTES:g}; then triage for at most as long.",
        ),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(min=1, callback=at_most(MOST_CASES), help="Run so many cases; then triage to the end."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Same seed, same versions: same cases.")
    ] = 1,
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes,
            help="Of two environments, only these routes, with commas between them; else all.",
        ),
    ] = "",
    seeds: Seeds = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder; by default campaigns/compare-TIME. One that is there goes on.")
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="For CI: exit with 1 if the new side does wrong what the old one does right.")
    ] = FailOn.never,
    known: KnownOption = None,
    refresh: Annotated[
        bool, typer.Option(help="First look for known defects on routes whose versions the ledger has not met.")
    ] = True,
    jobs: Jobs = None,
    config: Configured = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run the same cases on two versions of the libraries, and report what differs, reduced to minimal cases.

    A regression is what the new side does wrong and the old one right, a repair the other way round, a change what both
    do wrong, each in its own way. Each has a script that was run on both sides. That a side does not know a layer or a
    parameter is counted, and is none of them. What the ledger knows of one side only is a difference like any other,
    with its name. The folder is a campaign's: `cometfuzz bugs` and `cometfuzz show` read it, and report/compare.html is
    the page. After Ctrl-C the same command with --out goes on.

    Exit codes: 0; 1 a regression, with --fail-on regression; 2 usage; 3 an environment that is missing, or a route
    that never started.

    Example: cometfuzz compare keras313 main --minutes 10 --routes keras-tf,keras-torch --fail-on regression
    """
    given = load_config(config)
    usable, policy = configured(given), given.policy
    default = [name for name in (*policy.base, *policy.only, *policy.converters, *policy.sampled) if name in usable]
    sides, every = sides_between(old, new, usable, default, routes)
    chosen = [every[name] for name in sides.routes]
    expect_environments(chosen)
    everything = gather_known(known or [], given.known)
    ask_libraries(chosen, as_json)
    if refresh:
        meet(chosen, as_json)
    folder = out or Path("campaigns") / time.strftime("compare-%Y%m%d-%H%M%S")
    bound = minutes if minutes is not None or cases is not None else MINUTES
    settings = Settings(
        strategy="directed",
        seed=seed,
        routes=sides.routes,
        seeds=seed_texts(seed_graphs(seeds)),
        branches=False,
        graphs=msgspec.structs.asdict(given.graphs),
        jobs=jobs or given.jobs,
        cases=cases,
        minutes=bound,
        out=str(folder),
        ledger=overlay().digest,
        cpu=cpu_level(),
        between=(old, new),
        pairs=sides.pairs,
        offers=digest_of(offers_of({route.name: route for route in chosen})),
    )
    with _opened(folder, settings) as store:
        settings = replace(Settings.of(store.settings), cases=cases, minutes=bound, jobs=settings.jobs, out=str(folder))
        if not _is_done(store, settings):
            drive(store, settings, given, every, _Bar(settings))
        try:
            _triage(store, sides, every, everything, bound, as_json)
        finally:
            found = comparison(store, sides)
            page = write_comparison(store, found)
        idle = store.never_started
    _say(found, page, as_json)
    if fail_on is FailOn.regression and found.regressions:
        raise typer.Exit(1)
    if fail_on is FailOn.regression and idle:
        raise WorkerFailure(never_ran(idle))


def _opened(folder: Path, settings: Settings) -> Store:
    """The folder of a comparison: a new one, or one of the same sides to go on with."""
    if not (folder / DATABASE).is_file():
        return Store.create(folder, vars(settings))
    store = Store.open(folder)
    begun = Settings.of(store.settings)
    asked, there = ((each.between, each.pairs, each.seed) for each in (settings, begun))
    if asked != there:
        store.close()
        raise InvalidCampaign(
            f"{folder}: expected a comparison of {settings.between} with seed {settings.seed} to go on with; received "
            f"{'another one' if begun.sides else 'a campaign'}: name another folder"
        )
    return store


def _is_done(store: Store, settings: Settings) -> bool:
    """Whether there is nothing more to run."""
    enough = settings.cases is not None and store.done >= settings.cases
    return enough or (settings.minutes is not None and store.elapsed_s >= 60 * settings.minutes)


class _Bar(Screen):
    """How far it is: cases, or minutes if these are the bound."""

    def __init__(self, settings: Settings) -> None:
        self._by_cases = settings.cases is not None
        what, total = ("cases", settings.cases) if self._by_cases else ("minutes", math.ceil(settings.minutes or 0))
        self._progress = progress(f"comparing, {what}", total)
        self._findings = 0

    def __enter__(self) -> "_Bar":
        self._shown = self._progress.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.__exit__(*error)

    def handle(self, event: Event) -> None:
        if isinstance(event, CaseDone):
            self._findings += sum(len(part.findings) for part in event.parts)
            at = f"{event.index + 1} cases, {self._findings} findings on either side"
            self._shown.update(event.index + 1 if self._by_cases else event.elapsed_s / 60, at=at)


def _triage(
    store: Store, sides: Sides, routes: Mapping[str, Route], known: Known, minutes: float | None, quiet: bool
) -> None:
    """Look into what differs, with a progress bar and a line for each difference."""
    until = None if minutes is None else time.monotonic() + 60 * minutes
    with progress("looking into it", quiet=quiet) as shown:

        def show(step: Step) -> None:
            shown.update(step.done, step.total, step.step)
            each = Difference.of(step.bug) if step.bug is not None else None
            if each is not None and not quiet:
                mark = each.kind if each.proved else f"{each.kind}, not proved"
                shown.say(f"{mark} {each.bug.id}: {clean(each.bug.title)}")

        triage_comparison(store, sides, routes, known, show, lambda: until is not None and time.monotonic() > until)


def _say(found: Comparison, page: Path, as_json: bool) -> None:
    if as_json:
        print_json({**found.as_plain(), "page": str(page)})
        return
    console = Console(highlight=False)
    console.print(rendered(found))
    console.print(str(page), markup=False, soft_wrap=True)
