"""`cometfuzz run` and `cometfuzz resume`: campaigns."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.session import Elsewhere, Session, Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.cli import collector
from cometfuzz.cli.cluster import ClusterOption, InsecureOption, named, on_cluster, say
from cometfuzz.cli.completing import complete_routes, complete_strategy
from cometfuzz.cli.ends import ENDING
from cometfuzz.cli.ledger import look
from cometfuzz.cli.numbers import LARGEST_SEED, MOST_CASES, MOST_JOBS, MOST_MINUTES, MOST_SIGMA, MOST_WINDOW, at_most
from cometfuzz.cli.progress import progress
from cometfuzz.cli.triage import KnownOption, run_triage
from cometfuzz.config import Config
from cometfuzz.config import load as load_config
from cometfuzz.coverage.layers import SIGMA
from cometfuzz.errors import InvalidCampaign, UnknownName, WorkerFailure, near
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.executor import expect_environments
from cometfuzz.execution.offers import ask_and_keep, digest_of, offers_of, unasked
from cometfuzz.ir.graph import Graph
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.reading import overlay
from cometfuzz.mutation import with_others
from cometfuzz.reports.console import Screen, screen_for
from cometfuzz.reports.text import plural
from cometfuzz.routes import Route
from cometfuzz.routes.registry import choose
from cometfuzz.search.strategies import strategies, window_of
from cometfuzz.seeds.importing import read_model
from cometfuzz.seeds.published import names, synthesised
from cometfuzz.triage.known import Known, gather_known

Configured = Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml, if it is here.")]
JOBS = "Workers of each kind, by default as many as there are cores; with --no-branches the cases are the same."
Jobs = Annotated[int | None, typer.Option(min=1, callback=at_most(MOST_JOBS), help=JOBS)]
WINDOW_HELP = (
    "How many cases are under way when the next one is made; it decides which cases there are, so choose it by the "
    "largest number of workers that you will have (eight times as many keep a cluster busy). By default 8, or what "
    "the strategy asks for: 32 for directed."
)
Seeds = Annotated[
    list[Path] | None, typer.Option(help="Start from this case, .keras or .h5 file instead; may be given again.")
]
Json = Annotated[bool, typer.Option("--json", help="Events as lines of JSON (docs/events.md).")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Only the closing summary.")]

STRATEGY = (
    "What proposes the cases: directed goes for what is uncovered; comet and comet-r are the paper's, "
    "comet-published draws how many layers a mutation touches as evenly as it does; odd tries one "
    "layer at a time on odd numbers; refuse makes calls that break a rule, which libraries should refuse. "
    "cradle, lemon, muffin (-chain, -merging, -dag, -cells), comet-o, graphfuzz and audee are the tools that the paper "
    "compares with; with -published, as these were: their own seeds at full size, no limits, one case at a time."
)

MUTATIONS = "Installed mutations that take part beside the paper's eight: all, or names with commas between them."


class FailOn(StrEnum):
    """What makes a campaign fail."""

    never = "never"
    new = "new"
    all = "all"


def run(
    out: Annotated[Path | None, typer.Option(help="The campaign's folder; by default campaigns/TIME.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, callback=at_most(MOST_MINUTES), help="End after so many minutes.")
    ] = None,
    cases: Annotated[
        int | None, typer.Option(min=1, callback=at_most(MOST_CASES), help="End after so many cases.")
    ] = None,
    strategy: Annotated[str, typer.Option(autocompletion=complete_strategy, help=STRATEGY)] = "directed",
    seed: Annotated[
        int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="Same seed, same flags: same cases.")
    ] = 1,
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes, help="Routes, with commas between them; by default those of the policy."
        ),
    ] = "",
    seeds: Seeds = None,
    sigma: Annotated[
        int, typer.Option(min=1, callback=at_most(MOST_SIGMA), help="How many values of a numeric parameter count.")
    ] = SIGMA,
    branches: Annotated[bool, typer.Option(help="Let new branches of Keras' code guide the search too.")] = True,
    mutations: Annotated[str, typer.Option(help=MUTATIONS)] = "",
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="For CI: triage at the end, and exit with 1 if there is a new bug; `new` overlooks symptoms of low "
            "severity (lost digits, calls that should be refused), `all` does not."
        ),
    ] = FailOn.never,
    known: KnownOption = None,
    refresh: Annotated[
        bool, typer.Option(help="First look for known defects on routes whose versions the ledger has not met.")
    ] = True,
    jobs: Jobs = None,
    window: Annotated[int | None, typer.Option(min=1, callback=at_most(MOST_WINDOW), help=WINDOW_HELP)] = None,
    cluster: ClusterOption = "",
    insecure: InsecureOption = False,
    config: Configured = None,
    quiet: QuietOption = False,
    as_json: Json = False,
) -> None:
    """Run a campaign: generate models, run them on libraries, judge what they do, and keep it all in a folder.

    Without --minutes or --cases it goes on until nothing new has come for half an hour and hardly anything is left by
    its own estimate, or until Ctrl-C, which ends it with a summary; a second Ctrl-C ends it at once.
    SIGTERM and SIGHUP end it like Ctrl-C, within ten seconds.
    Nothing is lost either way: `cometfuzz resume DIR` goes on.

    On a cluster branches are not observed, the ledger is not refreshed (--no-branches --no-refresh), and the cases are
    the same whatever nodes there are, if they are alike.

    Exit codes: 0 nothing new; 1 new bugs, with --fail-on; 2 usage; 3 environment: one that is missing, or a route
    that never started; 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM; 141 nobody reads what it prints. New is what is not known,
    and is shown by a script; or, on a route of which no script can be written, by every run.

    Example: cometfuzz run --minutes 10 --routes keras-tf,keras-torch,onnxruntime --fail-on new
    """
    given = load_config(config)
    usable = configured(given)
    if strategy not in (known_ones := sorted(strategies())):
        raise UnknownName(
            f"expected one of {', '.join(known_ones)}; received strategy={strategy!r}{near(strategy, known_ones)}"
        )
    policy = given.policy
    default = [name for name in (*policy.base, *policy.only, *policy.converters, *policy.sampled) if name in usable]
    chosen = [route.name for route in choose(routes, usable)] if routes else default
    if not any(name in policy.base for name in chosen):
        base = ", ".join(policy.base)
        raise UnknownName(
            f"expected a route among them that takes every case: {base} (`base` under [policy] in cometfuzz.toml); "
            f"received routes={','.join(chosen)!r}, on which most cases would run nowhere"
        )
    remote = named(cluster, given)
    if not remote:
        expect_environments([usable[name] for name in chosen])
    everything = (
        gather_known(known or [], given.known) if known or given.known or fail_on is not FailOn.never else Known()
    )
    begun = seed_texts(seed_graphs(seeds))
    if not remote:
        ask_libraries([usable[name] for name in chosen], quiet or as_json)
    if refresh and not remote:
        meet([usable[name] for name in chosen], quiet or as_json)
    folder = out or Path("campaigns") / time.strftime("%Y%m%d-%H%M%S")
    settings = Settings(
        strategy=strategy,
        seed=seed,
        routes=tuple(chosen),
        seeds=begun,
        sigma=sigma,
        window=window or window_of(strategies()[strategy]),
        branches=branches and not remote,
        graphs=msgspec.structs.asdict(given.graphs),
        jobs=jobs or given.jobs,
        cases=cases,
        minutes=minutes,
        out=str(folder),
        ledger=overlay().digest,
        cpu=cpu_level(),
        mutations=with_others(mutations),
        offers=digest_of(offers_of({name: usable[name] for name in chosen})),
    )
    with Store.create(folder, vars(settings)) as store:
        with _executing(remote, insecure, given, settings, quiet or as_json) as elsewhere:
            drive(store, settings, given, usable, screen_for(as_json, quiet, known_keys(store)), elsewhere)
        if fail_on is not FailOn.never:
            remotely, silent = (remote, insecure), quiet or as_json
            found = run_triage(store, given, everything, None, jobs=jobs, quiet=silent, remote=remotely)
            if any(bug.is_new and (bug.is_urgent or fail_on is FailOn.all) for bug in found):
                raise typer.Exit(1)
            if idle := store.never_started:
                raise WorkerFailure(never_ran(idle))


def resume(
    folder: Annotated[Path, typer.Argument(help="A campaign's folder.", metavar="DIR")],
    minutes: Annotated[
        float | None,
        typer.Option(min=0.0, callback=at_most(MOST_MINUTES), help="So many minutes in all, those before included."),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(min=1, callback=at_most(MOST_CASES), help="So many cases in all, those before included."),
    ] = None,
    jobs: Jobs = None,
    cluster: ClusterOption = "",
    insecure: InsecureOption = False,
    config: Configured = None,
    quiet: QuietOption = False,
    as_json: Json = False,
) -> None:
    """Go on with a campaign where it was, also after a crash or kill -9; at most the cases under way are run again.

    Without --minutes or --cases its own bounds hold.

    Example: cometfuzz resume campaigns/20260101-120000 --minutes 30
    """
    with Store.open(folder) as store:
        if "merged" in store.settings:
            raise InvalidCampaign(
                f"{folder}: expected a campaign; received several that were merged: go on with one of them, and merge "
                "again"
            )
        settings = Settings.of(store.settings)
        settings = replace(
            settings,
            cases=cases if cases is not None or minutes is not None else settings.cases,
            minutes=minutes if cases is not None or minutes is not None else settings.minutes,
            jobs=jobs or settings.jobs,
            out=str(folder),
        )
        if settings.sides is not None:
            again = f"cometfuzz compare {settings.sides.old} {settings.sides.new} --out {folder}"
            raise InvalidCampaign(f"{folder}: expected a campaign; received a comparison: go on with `{again}`")
        given = load_config(config)
        known = configured(given)
        used = [known[name] for name in settings.routes if name in known]
        remote = named(cluster, given)
        if not remote:
            expect_environments(used)
            ask_libraries(used, quiet or as_json)
        settings = replace(settings, branches=settings.branches and not remote)
        with _executing(remote, insecure, given, settings, quiet or as_json) as elsewhere:
            drive(store, settings, given, known, screen_for(as_json, quiet, known_keys(store)), elsewhere)


def ask_libraries(routes: Sequence[Route], quiet: bool) -> None:
    """Ask libraries what they offer that nobody has asked yet: models are made within that."""
    waiting = unasked(routes)
    if not waiting:
        return
    for route in waiting:
        with progress("asking", quiet=quiet) as shown:
            if not quiet:
                shown.say(f"Asking the library of {route.name} what it offers; once for each environment.")
            offer = ask_and_keep(route, shown.update)
            if offer is not None and offer.lacks and not quiet:
                layers = sum(not lack.parameter for lack in offer.lacks)
                shown.say(
                    f"{route.name}: {offer.library} lacks {plural(layers, 'layer')} and operators of the catalogue and "
                    f"{plural(len(offer.lacks) - layers, 'parameter')} and values; models are made without them."
                )


def meet(routes: Sequence[Route], quiet: bool) -> None:
    """Meet a release that the ledger has not met: what is fixed since, what is still there."""
    measured = look(routes, quiet=quiet)
    if measured and not quiet:
        still, gone = (sum(each.shows is shows for each in measured) for shows in (True, False))
        Console(stderr=True, highlight=False).print(
            f"The ledger had not met some of these versions: {plural(len(measured), 'known defect')} tried, "
            f"{still} shown again, {gone} not (`cometfuzz ledger refresh --anew` lists them; --no-refresh leaves this "
            "out).",
            soft_wrap=True,
        )


def seed_graphs(paths: list[Path] | None) -> list[Graph]:
    """What a campaign starts from: the published models, unless somebody names others."""
    if not paths:
        return [synthesised(name) for name in names()]
    return [read_model(path).graph for path in paths]


def never_ran(routes: Sequence[str]) -> str:
    """What to say of routes on which nothing has run."""
    names = ",".join(routes)
    return f"expected every route to run; received routes={names}, which never did: `cometfuzz doctor --routes {names}`"


@contextmanager
def _executing(
    remote: str, insecure: bool, config: Config, settings: Settings, quiet: bool
) -> Iterator[Elsewhere | None]:
    """What makes the executor of a cluster, if one is named."""
    if not remote:
        yield None
        return
    with on_cluster(remote, insecure, config, settings.routes, say(quiet)) as dispatch:
        from cometfuzz.cluster.executor import ClusterExecutor

        yield partial(ClusterExecutor, dispatch)


def drive(
    store: Store,
    settings: Settings,
    given: Config,
    routes: Mapping[str, Route],
    screen: Screen,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Run the campaign to its end; typer.Exit if that was Ctrl-C or another signal."""
    with progress("replaying", store.done, quiet=not store.done) as shown:
        session = Session(store, settings, given, routes, shown.update, elsewhere)
    collector.leave_alone()
    with session, ENDING.asking(session.stop), screen:
        for event in session.events():
            screen.handle(event)
    if ENDING.code:
        raise typer.Exit(ENDING.code)


def known_keys(records: Records) -> list[str]:
    """The findings that earlier sessions of the campaign have seen."""
    return list(dict.fromkeys(found.finding.key for found in records.findings()))
