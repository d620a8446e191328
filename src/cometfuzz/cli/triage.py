"""`cometfuzz triage`: from the findings of a campaign to bugs with scripts."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console

from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import Settled
from cometfuzz.campaign.triaging import Elsewhere, Progress, triage_campaign
from cometfuzz.cli.cluster import ClusterOption, InsecureOption, named, on_cluster, say
from cometfuzz.cli.numbers import MOST_JOBS, MOST_MINUTES, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import progress
from cometfuzz.config import Config
from cometfuzz.config import load as load_config
from cometfuzz.execution.configuring import configured
from cometfuzz.reports.text import clean, plural
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.known import Known, gather_known

KnownOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="What is known besides the ledger: a collection, or a TOML file of issues; else bugs/, if it is here.",
        metavar="DIR|FILE",
    ),
]


def triage(
    folder: Annotated[Path, typer.Argument(help="A campaign's folder.", metavar="DIR")],
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.0, callback=at_most(MOST_MINUTES), help="Stop after so many minutes; go on by calling again."
        ),
    ] = None,
    known: KnownOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            callback=at_most(MOST_JOBS),
            help="How many findings are worked out at once, by default as many as there are cores.",
        ),
    ] = None,
    cluster: ClusterOption = "",
    insecure: InsecureOption = False,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Turn the findings of a campaign into bugs: confirm, reduce, blame, and write a script that shows each.

    One finding of each kind is looked into, ordinary numbers first. What is kept already costs next to nothing, and so
    does what a collection has (`cometfuzz collect`): it is marked as known, with the name that it has there.

    Example: cometfuzz triage campaigns/20260101-120000 --minutes 5
    """
    given = load_config(config)
    everything = gather_known(known or [], given.known)
    with Store.open(folder) as store:
        remote = named(cluster, given), insecure
        found = run_triage(store, given, everything, minutes, jobs=jobs, quiet=as_json, remote=remote)
        settled, waiting = list(store.settled()), len(store.waiting())
    if as_json:
        names = ("id", "title", "reported", "known", "triage_s")
        print_json(
            {
                "new": [{name: getattr(bug, name) for name in names} for bug in found],
                "findings": [asdict(each) for each in settled],
                "waiting": waiting,
                **{name: _median(seconds) for name, seconds in _seconds(settled).items()},
            }
        )
    else:
        Console().print(_closing(settled, waiting), highlight=False, soft_wrap=True)


def _seconds(settled: Sequence[Settled]) -> dict[str, list[float]]:
    """How long findings took: those that made a bug, script and all, and duplicates of one."""
    made = [each.seconds for each in settled if each.first and not each.reason]
    again = [each.seconds for each in settled if not each.first]
    return {"median_s": made, "median_again_s": again}


def _median(seconds: Sequence[float]) -> float | None:
    return median(seconds) if seconds else None


def _closing(settled: Sequence[Settled], waiting: int) -> str:
    """What triage came to, over all its calls."""
    bugs = len({each.bug_id for each in settled})
    text = f"{plural(len(settled), 'finding')}: {plural(bugs, 'bug')}"
    made, again = _seconds(settled).values()
    if made:
        text += f"; from a finding to a script that shows it {median(made):.1f} s (median of {len(made)})"
    if again:
        text += f", a duplicate finding {1000 * median(again):.0f} ms (median of {len(again)})"
    return text + (f"; {waiting} findings wait: call it again" if waiting else "")


def run_triage(
    store: Store,
    config: Config,
    known: Known,
    minutes: float | None,
    *,
    jobs: int | None = None,
    quiet: bool = False,
    remote: tuple[str, bool] = ("", False),
) -> list[Bug]:
    """Triage with a progress bar, and a line for each new bug; on a cluster if one is named, and whether insecurely."""
    routes = configured(config)
    limit_s = None if minutes is None else 60 * minutes
    with progress("triage", quiet=quiet) as shown:

        def show(step: Progress) -> None:
            shown.update(step.done, step.total, step.step)
            if step.bug is not None and not quiet:
                shown.say(f"{_mark(step.bug)} {step.bug.id}: {clean(step.bug.title)}")
            if step.mistake:
                shown.say(f"! {clean(step.mistake)}")

        if not remote[0]:
            return triage_campaign(store, routes, known, show, limit_s, jobs=jobs or config.jobs)
        names = [name for name in store.routes if name in routes]
        with on_cluster(*remote, config, names, say(quiet)) as dispatch:
            from cometfuzz.cluster.executor import look_into

            return triage_campaign(
                store, routes, known, show, limit_s, elsewhere=Elsewhere(partial(look_into, dispatch), dispatch.threads)
            )


def _mark(bug: Bug) -> str:
    """What a new bug is called when it is announced."""
    if bug.known:
        return f"known as {clean(bug.known)}"
    if bug.script is None:
        return "bug without a script" if bug.is_new else "not reproduced"
    return "bug" if bug.reported else "not reproduced"
