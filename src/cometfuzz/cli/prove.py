"""`cometfuzz prove`: from declared bugs to collected ones."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from cometfuzz.campaign.triaging import STAGE_S
from cometfuzz.cli.output import print_json
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.execution.supervisor import Limits
from cometfuzz.reports.collection import write_tables
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.registry import ROUTES, choose
from cometfuzz.triage.collection import DEFAULT, Collection
from cometfuzz.triage.declared import Proven, declared_bugs, prove
from cometfuzz.triage.draft import draft
from cometfuzz.triage.reproducer import reproduce
from cometfuzz.triage.triage import Triage


def prove_(
    routes: Annotated[str, typer.Option(help="Routes to run on, by name, or `all`.")] = "all",
    matching: Annotated[str, typer.Option(help="Only gaps whose evidence has this text in it.")] = "",
    into: Annotated[Path, typer.Option(help="The collection, which is made if need be.")] = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Make every declared bug show in a model of one layer, reduce it, and collect it with a script.

    A campaign passes over what `cometfuzz gaps` declares; this is where it gets its script. What the collection has
    already is passed over, and each bug is kept as soon as it is there, so that Ctrl-C loses nothing.

    Example: cometfuzz prove --matching AveragePooling
    """
    chosen = [route for route in choose(routes, ROUTES) if route.name != REFERENCE.name]
    names = [route.name for route in chosen]
    collection = Collection.read(into)
    collected = {entry.bug.finding.gap for entry in collection.entries}
    waiting = [gap for gap in declared_bugs(names) if matching in gap.evidence and gap.evidence not in collected]
    rows: list[dict[str, Any]] = []
    console = Console(stderr=True)
    columns = (TextColumn("prove"), BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.fields[step]}"))
    limits = Limits(stage_s=STAGE_S)
    with (
        Executor(chosen, limits=limits, pause_after=0) as executor,
        Progress(*columns, console=console, transient=True, disable=as_json) as bar,
    ):
        task = bar.add_task("", total=len(waiting), step="")
        triage = Triage(
            executor,
            reproduce=lambda bug: reproduce(bug, ROUTES, executor),
            bugs={entry.bug.id: entry.bug for entry in collection.entries},
            report=lambda step: bar.update(task, step=step),
            declared=True,
        )
        for gap in waiting:
            proven = prove(gap, triage, names, lambda layer: bar.update(task, step=layer))
            collection, row = _take(collection, proven)
            rows.append({"gap": gap.evidence, "route": proven.route, **row})
            if not as_json:
                console.print(f"{row['what']}: {clean(_line(gap, row))}", markup=False, highlight=False)
            bar.advance(task)
    write_tables(collection)
    if as_json:
        print_json({"declared": rows})
        return
    added = sum(row["what"] == "added" for row in rows)
    console.print(f"{plural(len(rows), 'declared bug')} looked into, {added} added to {into}.", highlight=False)


def _take(collection: Collection, proven: Proven) -> tuple[Collection, dict[str, Any]]:
    """Collect what a declared bug turned out to be, or say why not."""
    bug = proven.bug
    if bug is None or not bug.reported:
        return collection, {"what": "not shown", "place": "", "why": proven.reason or "no script shows it"}
    entry = collection.has(bug)
    if entry is not None:
        return collection, {"what": "one of those", "place": entry.place, "why": ""}
    collection, entry = collection.add(replace(bug, draft=draft(bug, ROUTES)))
    return collection, {"what": "added", "place": entry.place, "why": ""}


def _line(gap: Gap, row: dict[str, Any]) -> str:
    return f"{row['place'] or row['why']} ({gap.evidence})"
